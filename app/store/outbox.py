"""The outbox on the store: deliveries that wait, who holds them, and what became of them."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass
from functools import partial
from itertools import chain
from typing import TYPE_CHECKING

from sqlalchemy import Select, bindparam, func, insert, null, select, update

from app.delivery.model import Delivery, DeliveryState, Outcome
from app.scores.score_event import KIND
from app.store import holders
from app.store.adoption import Found, adopt
from app.store.backlog import call_back, give_up, lost_relays
from app.store.cursor import Update, cursor_of
from app.store.journal import replaceable
from app.store.tables import delivery, event, relay, waiting

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlalchemy import Connection

    from app.nostr.event import Event
    from app.store.store import Store


_ANY_EVENT = select(event.c.seq).limit(1)


@dataclass(frozen=True, slots=True)
class _Claim:
    relay: str
    now: float
    limit: int


def register_relays(connection: Connection, urls: Sequence[str]) -> dict[str, int]:
    """The row ids of relays, which are made where they are new; relay URL -> id."""
    cursor_of(connection).lock(["relays"])
    known = dict(connection.execute(select(relay.c.url, relay.c.id)).all())
    for url in urls:
        if url not in known:
            known[url] = connection.execute(insert(relay).values(url=url).returning(relay.c.id)).scalar_one()
    return {url: known[url] for url in urls}


def reinstate_relays(connection: Connection, configured: Sequence[str]) -> None:
    """Take note that these relays are connected to, at least for a while."""
    connection.execute(update(relay).where(relay.c.url.in_(configured)).values(retired=False))


def retire_relays(connection: Connection, configured: Sequence[str], now: float) -> None:
    """Take note of which relays the settings name; nobody connects to the others any more."""
    reinstate_relays(connection, configured)
    since = func.coalesce(relay.c.down_since, now)
    others = relay.c.url.not_in(configured)
    connection.execute(update(relay).where(others).values(retired=True, down_since=since))


class StoreOutbox:
    """The port `Outbox` of the delivery engine, on the store.

    Args:
        holder: this process's id, from `holders.register`.
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
        if not await self._store.read(partial(self._worth_claiming, self._relays[relay], now)):
            return []  # so that an idle service writes nothing
        return await self._store.write(self._claim, _Claim(relay, now, limit), bulky=True)

    async def record(self, outcomes: Sequence[Outcome]) -> None:
        """Write what became of deliveries; a pending one is given back until it is due."""
        await self._store.write(self._record, outcomes)

    async def has_newer(self, event_id: str) -> bool:
        """Whether the store holds a newer event at that score's address; nothing replaces a deletion."""
        older, newer = event.alias(), event.alias()
        query = (
            select(newer.c.seq)
            .join(older, (newer.c.d == older.c.d) & (newer.c.created_at > older.c.created_at))
            .where(older.c.id == event_id, older.c.kind == KIND)
            .limit(1)
        )
        return await self._store.read(lambda connection: connection.execute(query).first() is not None)

    async def adopt(self, relay: str, event: Event) -> bool:
        """Store an event of this app's key that the relay holds; whether it was taken (see `adoption`)."""
        (taken,) = await self._store.write(self._adopt, [Found(event, self._relays[relay])], bulky=True)
        return taken

    async def adopt_all(self, held: Sequence[tuple[str, Event]]) -> list[bool]:
        """Store events that relays (by URL) hold; whether each was taken."""
        found = [Found(event, self._relays[relay]) for relay, event in held]
        return await self._store.write(self._adopt, found, bulky=True)

    async def is_fresh(self) -> bool:
        """Whether nothing was ever signed into this store."""
        return await self._store.read(lambda connection: connection.execute(_ANY_EVENT).first() is None)

    async def reached(self, relay: str, *, connected: bool) -> None:
        """Take note that a connection to the relay came about, or failed."""
        await self._store.write(self._reached, (self._relays[relay], connected))

    async def give_up(self) -> Counter[str]:
        """Mark as failed what waits for relays out of reach for seven days; relay URL -> how many."""
        counts: Counter[str] = Counter()
        if not await self._store.read(lambda connection: lost_relays(connection, self._clock())):
            return counts
        while some := await self._store.write(self._give_up, None, bulky=True):
            counts += some
        return counts

    async def call_back(self) -> int:
        """Have tried from now on what a clock that was ahead has put off; returns how many."""
        count: int = await self._store.write(self._call_back, None, bulky=True)
        return count

    async def beat(self) -> None:
        """Say that this process is alive and keeps what it holds."""
        await self._store.write(self._beat, None)

    async def leave(self) -> None:
        """Give back whatever this process still holds."""
        await self._store.write(self._leave, None, bulky=True)

    def _adopt(self, connection: Connection, found: Sequence[Sequence[Found]]) -> list[list[bool]]:
        return [adopt(connection, each, self._clock()) for each in found]

    def _reached(self, connection: Connection, notes: Sequence[tuple[int, bool]]) -> list[None]:
        for relay_id, connected in notes:
            since = null() if connected else func.coalesce(relay.c.down_since, self._clock())
            connection.execute(update(relay).where(relay.c.id == relay_id).values(down_since=since))
        return [None] * len(notes)

    def _give_up(self, connection: Connection, asked: Sequence[None]) -> list[Counter[str]]:
        return [give_up(connection, self._clock()) for _ in asked]

    def _call_back(self, connection: Connection, asked: Sequence[None]) -> list[int]:
        return [call_back(connection, self._clock()) for _ in asked]

    def _beat(self, connection: Connection, beats: Sequence[None]) -> list[None]:
        holders.beat(cursor_of(connection), self._holder, self._clock())
        return [*beats]

    def _leave(self, connection: Connection, leaves: Sequence[None]) -> list[None]:
        holders.release(connection, self._holder)
        cursor_of(connection).tell_waiting()
        return [*leaves]

    def _worth_claiming(self, relay_id: int, now: float, connection: Connection) -> bool:
        due = select(delivery.c.event_seq).where(
            delivery.c.relay_id == relay_id, waiting, delivery.c.due <= now
        )
        return connection.execute(due.limit(1)).first() is not None or holders.any_dead(
            connection, self._holder, self._clock()
        )

    def _claim(self, connection: Connection, claims: Sequence[_Claim]) -> list[list[Delivery]]:
        self._beat(connection, [])
        holders.release_dead(connection, self._holder, self._clock())
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
                replaceable(row.kind, row.id, row.pubkey, row.username),
                row.created_at,
                row.payload,
                row.attempts,
                row.failing_since,
            )
            for row in rows
        ]

    def _candidates(self, claim: _Claim) -> Select[tuple[object, ...]]:
        return (
            select(
                event.c.seq,
                event.c.id,
                event.c.kind,
                event.c.pubkey,
                event.c.username,
                event.c.created_at,
                event.c.payload,
                delivery.c.attempts,
                delivery.c.failing_since,
            )
            .join(delivery, delivery.c.event_seq == event.c.seq)
            .where(delivery.c.relay_id == self._relays[claim.relay], waiting, delivery.c.due <= claim.now)
            .order_by(delivery.c.due, event.c.seq)
            .limit(claim.limit)
            .with_for_update(of=delivery, skip_locked=True)
        )

    def _record(self, connection: Connection, batches: Sequence[Sequence[Outcome]]) -> list[None]:
        # One outcome for each delivery, as if they had been written one after the other.
        last: dict[tuple[str, int], Outcome] = {}
        for outcome in chain.from_iterable(batches):
            place = outcome.event_id, self._relays[outcome.relay]
            before = last.get(place)
            if (
                before is None
                or before.state is DeliveryState.PENDING
                or outcome.state is DeliveryState.ACCEPTED
            ):
                last[place] = outcome
        rows = [
            (o.state.value, o.message, o.attempts, o.due, o.failing_since, *place)
            for place, o in last.items()
        ]
        cursor_of(connection).update(_RECORD, rows)
        return [None] * len(batches)


# It runs for every answer of every relay. What is settled stays settled, save
# that a relay's acceptance is the truth whenever it comes.
_RECORD = Update(
    "state text, message text, attempts integer, due float, failing_since float, "
    "event_id text, relay_id integer",
    f"""
    UPDATE delivery SET state = each.state, message = each.message, attempts = each.attempts, due = each.due,
        failing_since = each.failing_since, holder = NULL
    FROM each
    WHERE event_seq = (SELECT seq FROM event WHERE id = each.event_id) AND delivery.relay_id = each.relay_id
    AND (delivery.state = '{DeliveryState.PENDING}' OR each.state = '{DeliveryState.ACCEPTED}')
    """,  # noqa: S608 - the states are constants
)
