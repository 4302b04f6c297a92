"""Which process holds which deliveries. What a process holds is free again once it has gone silent."""

from __future__ import annotations

from typing import TYPE_CHECKING

from sqlalchemy import ColumnElement, delete, insert, select, update

from app.delivery.model import DeliveryState
from app.store.tables import delivery, process

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from app.store.cursor import Cursor

# A process that has not beaten for so many seconds has lost what it held.
LEASE = 6.0
BEAT_EVERY = 2.0

_BEAT = "INSERT INTO process (id, beat) VALUES (?, ?) ON CONFLICT (id) DO UPDATE SET beat = excluded.beat"


def register(connection: Connection, now: float) -> int:
    """Enter this process among those that hold deliveries; returns its id."""
    holder: int = connection.execute(insert(process).values(beat=now).returning(process.c.id)).scalar_one()
    return holder


def beat(cursor: Cursor, holder: int, now: float) -> None:
    """Say that a process is alive; whatever takes hold of deliveries does so in the same transaction."""
    cursor.run(_BEAT, holder, now)


def any_dead(connection: Connection, holder: int, now: float) -> bool:
    """Whether a process other than this one has gone silent."""
    return connection.execute(select(process.c.id).where(_dead(holder, now)).limit(1)).first() is not None


def release_dead(connection: Connection, holder: int, now: float) -> None:
    """Free what processes held that have gone silent."""
    found = select(process.c.id).where(_dead(holder, now)).with_for_update(skip_locked=True)
    for dead in connection.execute(found).scalars().all():
        release(connection, dead)


def release(connection: Connection, holder: int) -> None:
    """Free what a process held; this reads every delivery, which happens once for a process that ends."""
    held = (delivery.c.state == DeliveryState.PENDING) & (delivery.c.holder == holder)
    connection.execute(update(delivery).where(held).values(holder=None))
    connection.execute(delete(process).where(process.c.id == holder))


def _dead(holder: int, now: float) -> ColumnElement[bool]:
    # A beat far ahead was made before the clock was set back; its process may be long gone.
    silent: ColumnElement[bool] = ~process.c.beat.between(now - LEASE, now + LEASE)
    return silent & (process.c.id != holder)
