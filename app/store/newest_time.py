"""The highest clock by which anything was signed, behind which nothing more is; an operator may set it back.

That breaks no order: each name's `created_at` still follows its own last one, which is on disk.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import func, select, update

from app.store.backlog import call_back
from app.store.journal import MAX_LEAD
from app.store.tables import event

if TYPE_CHECKING:
    from sqlalchemy import Connection

_LAST = select(func.max(event.c.seq)).scalar_subquery()


class NameAhead(NamedTuple):
    """A name (`d`) whose last event is so far ahead of the clock that the next one has to wait.

    Attributes:
        until: unix seconds from which it can be signed for.
    """

    d: str
    until: int


def newest_time(connection: Connection) -> float | None:
    """The highest clock by which anything was signed, unix seconds; None for an empty store."""
    return connection.execute(select(event.c.signed_at).where(event.c.seq == _LAST)).scalar()


def names_ahead(connection: Connection, now: float) -> list[NameAhead]:
    """Names that cannot be signed for yet, in order."""
    until = func.max(event.c.created_at) + 1 - MAX_LEAD
    query = select(event.c.d, until).group_by(event.c.d).having(until > now).order_by(event.c.d)
    return [NameAhead(*row) for row in connection.execute(query)]


def set_back(connection: Connection, now: float) -> int:
    """Sign by the clock as it is from now on; returns how many deliveries that it had put off are due."""
    connection.execute(update(event).where(event.c.seq == _LAST).values(signed_at=now))
    return call_back(connection, now)
