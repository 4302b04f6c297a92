"""What waits in the store for each relay, told by an index of nothing but what waits."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import func, select

from app.store.tables import delivery, event, relay, waiting

if TYPE_CHECKING:
    from sqlalchemy import Connection


@dataclass(frozen=True, slots=True)
class Pending:
    """Pending deliveries to one relay that no process holds.

    Attributes:
        count: how many.
        oldest: when the first of their events was signed, unix seconds.
    """

    count: int
    oldest: float


def read_pending(connection: Connection) -> dict[str, Pending]:
    """What is pending at each configured relay where anything is, by its URL."""
    counted = (
        select(
            delivery.c.relay_id,
            func.count().label("count"),
            func.min(delivery.c.event_seq).label("first"),
        )
        .where(waiting)
        .group_by(delivery.c.relay_id)
        .subquery()
    )
    rows = connection.execute(
        select(relay.c.url, counted.c.count, event.c.signed_at)
        .join(relay, relay.c.id == counted.c.relay_id)
        .join(event, event.c.seq == counted.c.first)
        .where(~relay.c.retired)
    )
    return {url: Pending(count, signed_at) for url, count, signed_at in rows}
