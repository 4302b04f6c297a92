"""The outbox on the store: deliveries that wait, who holds them, and what became of them."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import ColumnElement, Select, bindparam, delete, func, insert, or_, select, update

from app.delivery.model import Delivery, DeliveryState, Outcome
from app.scores.score_event import address
from app.store.tables import delivery, event, process, relay

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlalchemy import Connection

    from app.store.store import Store

# A process that has not beaten for so many seconds has lost what it held.
LEASE = 6.0
BEAT_EVERY = 2.0


@dataclass(frozen=True, slots=True)
class _Claim:
    relay: str
    now: float
    limit: int


def register_process(connection: Connection, now: float) -> int:
    """Enter this process among those that hold deliveries; returns its id."""
    holder: int = connection.execute(insert(process).values(beat=now).returning(process.c.id)).scalar_one()
    return holder


def register_relays(connection: Connection, urls: Sequence[str]) -> dict[str, int]:
    """The row ids of relays, which are made where they are new; relay URL -> id."""
    known = dict(connection.execute(select(relay.c.url, relay.c.id)).tuples().all())
    for url in urls:
        if url not in known:
            known[url] = connection.execute(insert(relay).values(url=url).returning(relay.c.id)).scalar_one()
    return {url: known[url] for url in urls}


def _unheld(relay_id: int, now: float) -> list[ColumnElement[bool]]:
    alive = select(process.c.id).where(process.c.beat.between(now - LEASE, now + LEASE))
    return [
        delivery.c.relay_id == relay_id,
        delivery.c.state == DeliveryState.PENDING,
        or_(delivery.c.holder.is_(None), delivery.c.holder.not_in(alive)),
    ]


class StoreOutbox:
    """The port `Outbox` of the delivery engine, on the store.

    Args:
        holder: this process's id, from `register_process`.
        relays: relay URL -> id, from `register_relays`.
        clock: wall clock, unix seconds.
    """

    def __init__(
        self, store: Store, *, holder: int, relays: dict[str, int], clock: Callable[[], float]
    ) -> None:
        self._store = store
        self._holder = holder
        self._relays = relays
        self._clock = clock

    async def claim(self, relay: str, *, now: float, limit: int) -> list[Delivery]:
        """Take up to `limit` pending deliveries due by `now` that no live process holds, oldest first."""
        due = await self.next_due(relay)
        if due is None or due > now:
            return []  # so that an idle service writes nothing
        return await self._store.write(self._claim, _Claim(relay, now, limit))

    async def next_due(self, relay: str) -> float | None:
        """The earliest due time, unix seconds, among pending deliveries that no live process holds."""
        where = _unheld(self._relays[relay], self._clock())
        query = select(func.min(delivery.c.due)).where(*where)
        return await self._store.read(lambda connection: connection.execute(query).scalar())

    async def record(self, outcomes: Sequence[Outcome]) -> None:
        """Write what became of deliveries; a pending one is given back until it is due."""
        await self._store.write(self._record, outcomes)

    async def has_newer(self, event_id: str) -> bool:
        """Whether the store holds a newer event at that event's address."""
        older, newer = event.alias(), event.alias()
        query = (
            select(newer.c.seq)
            .join(older, (newer.c.d == older.c.d) & (newer.c.created_at > older.c.created_at))
            .where(older.c.id == event_id)
            .limit(1)
        )
        return await self._store.read(lambda connection: connection.execute(query).first() is not None)

    async def beat(self) -> None:
        """Say that this process is alive and keeps what it holds."""
        await self._store.write(self._beat, None)

    async def leave(self) -> None:
        """Give back whatever this process still holds."""
        await self._store.write(self._leave, None)

    def _beat(self, connection: Connection, beats: Sequence[None]) -> list[None]:
        connection.execute(update(process).where(process.c.id == self._holder).values(beat=self._clock()))
        return [*beats]

    def _leave(self, connection: Connection, leaves: Sequence[None]) -> list[None]:
        connection.execute(delete(process).where(process.c.id == self._holder))
        return [*leaves]

    def _claim(self, connection: Connection, claims: Sequence[_Claim]) -> list[list[Delivery]]:
        self._beat(connection, [])
        return [self._claim_one(connection, claim) for claim in claims]

    def _claim_one(self, connection: Connection, claim: _Claim) -> list[Delivery]:
        rows = connection.execute(self._candidates(claim)).all()
        if rows:
            connection.execute(
                update(delivery)
                .where(
                    delivery.c.event_seq == bindparam("seq"), delivery.c.relay_id == self._relays[claim.relay]
                )
                .values(holder=self._holder),
                [{"seq": row.seq} for row in rows],
            )
        return [
            Delivery(
                row.id,
                claim.relay,
                address(row.pubkey, row.username),
                row.created_at,
                row.payload,
                row.attempts,
            )
            for row in rows
        ]

    def _candidates(self, claim: _Claim) -> Select[tuple[object, ...]]:
        return (
            select(
                event.c.seq,
                event.c.id,
                event.c.pubkey,
                event.c.username,
                event.c.created_at,
                event.c.payload,
                delivery.c.attempts,
            )
            .join(delivery, delivery.c.event_seq == event.c.seq)
            .where(*_unheld(self._relays[claim.relay], claim.now), delivery.c.due <= claim.now)
            .order_by(delivery.c.due, event.c.seq)
            .limit(claim.limit)
        )

    def _record(self, connection: Connection, batches: Sequence[Sequence[Outcome]]) -> list[None]:
        rows = [
            {
                "id": outcome.event_id,
                "relay": self._relays[outcome.relay],
                "new_state": outcome.state,
                "new_message": outcome.message,
                "new_attempts": outcome.attempts,
                "new_due": outcome.due,
            }
            for batch in batches
            for outcome in batch
        ]
        if rows:
            connection.execute(_RECORD, rows)
        return [None] * len(batches)


# What is settled stays settled, save that a relay's acceptance is the truth whenever it comes.
_RECORD = (
    update(delivery)
    .where(
        delivery.c.event_seq == select(event.c.seq).where(event.c.id == bindparam("id")).scalar_subquery(),
        delivery.c.relay_id == bindparam("relay"),
        or_(
            delivery.c.state == DeliveryState.PENDING,
            bindparam("new_state", type_=delivery.c.state.type) == DeliveryState.ACCEPTED,
        ),
    )
    .values(
        state=bindparam("new_state"),
        message=bindparam("new_message"),
        attempts=bindparam("new_attempts"),
        due=bindparam("new_due"),
        holder=None,
    )
)
