"""The rows of signed events and of their deliveries, read and written once for each batch.

These are the busiest statements of the service.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING, NamedTuple

from app.delivery.model import Delivery, DeliveryState
from app.scores.score_event import KIND, address
from app.store import holders
from app.store.cursor import Insert
from app.store.refusals import ClockBehind

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence

    from app.nostr.event import Event
    from app.store.cursor import Cursor, Later

# How far an address's created_at may run ahead of the clock, in seconds.
MAX_LEAD = 60


class Version(NamedTuple):
    """The newest event of an address: a score, or the deletion of one.

    Attributes:
        level: the computer's that a proved score was played against; None for others.
    """

    seq: int
    event_id: str
    created_at: int
    kind: int
    score: int
    level: str | None = None

    @property
    def is_score(self) -> bool:
        """Whether it is a score that stands."""
        return self.kind == KIND


class Entry(NamedTuple):
    """A signed event that is about to be written.

    Attributes:
        hold: relays whose worker takes the delivery from memory right after the commit.
        level: as for `Version`.
        published: whether it goes to the relays.
    """

    seq: int
    d: str
    username: str
    score: int
    event: Event
    payload: str
    hold: frozenset[str]
    level: str | None = None
    published: bool = True

    def version(self) -> Version:
        """The entry as the newest of its address."""
        event = self.event
        return Version(self.seq, event.id, event.created_at, event.kind, self.score, self.level)


class Signed(NamedTuple):
    """An event that is on disk.

    Attributes:
        payload: the event's JSON text.
        states: relay -> how its delivery began.
        held: the deliveries that this process holds.
    """

    event: Event
    payload: str
    states: dict[str, DeliveryState]
    held: tuple[Delivery, ...]


_SELECT_LAST = "SELECT seq, signed_at FROM event ORDER BY seq DESC LIMIT 1"
_SELECT_NEWEST = """
    SELECT d, seq, id, created_at, kind, score, level FROM each(?) JOIN event
    ON d = value AND created_at = (SELECT max(other.created_at) FROM event AS other WHERE other.d = value)
"""
_INSERT_EVENT = Insert(
    "event", "seq, id, d, created_at, pubkey, username, score, payload, signed_at, kind, level"
)
_INSERT_DELIVERY = Insert("delivery", "event_seq, relay_id, state, message, attempts, due, holder")
_SUPERSEDE = f"""
    UPDATE delivery SET state = '{DeliveryState.SUPERSEDED}', due = NULL, holder = NULL
    WHERE event_seq IN (SELECT CAST(value AS bigint) FROM each(?)) AND state = '{DeliveryState.PENDING}'
"""  # noqa: S608 - the states are constants


class Last(NamedTuple):
    """The last `seq`, and the highest wall clock at which anything was signed; 0 in an empty store."""

    seq: int
    signed_at: float

    def check(self, now: float) -> None:
        """Check that what is signed by the clock `now` follows it.

        Raises:
            ClockBehind: if `now` is earlier than that by more than MAX_LEAD seconds.
        """
        if now < self.signed_at - MAX_LEAD:
            raise ClockBehind(math.ceil(self.signed_at - now))


def ask_last(cursor: Cursor) -> Later[Last]:
    """The last event, by which the next ones are numbered."""
    rows = cursor.ask(_SELECT_LAST)
    return lambda: Last(*(rows() or [(0, 0.0)])[0])


def ask_newest(cursor: Cursor, ds: set[str]) -> Later[dict[str, Version]]:
    """The newest event of each address that has one, by its `d`."""
    rows = cursor.ask(_SELECT_NEWEST, list(ds))
    return lambda: {d: Version(*row) for d, *row in rows()}


def insert_events(cursor: Cursor, entries: Sequence[Entry], mark: float) -> None:
    """Write events in the order of their `seq`, without deliveries; `mark` as for `Journal.write`."""
    cursor.insert(_INSERT_EVENT, [_event_row(entry, mark) for entry in entries])


def replaceable(kind: int, event_id: str, pubkey: str, username: str) -> str:
    """What a newer event takes the place of: a score's address, and of a deletion nothing but itself."""
    return address(pubkey, username) if kind == KIND else event_id


class Journal:
    """Writes signed events with a delivery for each relay.

    Args:
        relays: relay URL -> its row's id.
        holder: the id of this process, as the outbox knows it.
    """

    def __init__(self, relays: Mapping[str, int], holder: int) -> None:
        self._relays = relays
        self._holder = holder

    def write(
        self, cursor: Cursor, entries: Sequence[Entry], superseded: set[int], *, now: float, mark: float
    ) -> list[Signed]:
        """Write entries in the order of their `seq`.

        Args:
            superseded: the `seq`s, here or on disk, of events that a newer one has taken the place of.
            now: wall clock, unix seconds.
            mark: the highest wall clock so far, `now` included.
        """
        if not entries:
            return []
        if any(entry.hold for entry in entries):
            holders.beat(cursor, self._holder, now)
        insert_events(cursor, entries, mark)
        rows: list[tuple[object, ...]] = []
        for entry in entries:
            for url, relay_id in self._relays.items() if entry.published else ():
                if entry.seq in superseded:
                    rows.append((entry.seq, relay_id, DeliveryState.SUPERSEDED.value, "", 0, None, None))
                else:
                    holder = self._holder if url in entry.hold else None
                    rows.append((entry.seq, relay_id, DeliveryState.PENDING.value, "", 0, now, holder))
        cursor.insert(_INSERT_DELIVERY, rows)
        if on_disk := superseded - {entry.seq for entry in entries}:
            cursor.run(_SUPERSEDE, [str(seq) for seq in on_disk])
        if any(state == DeliveryState.PENDING and holder is None for _, _, state, *_, holder in rows):
            cursor.tell_waiting()
        return [self._signed(entry, entry.seq in superseded) for entry in entries]

    def _signed(self, entry: Entry, superseded: bool) -> Signed:
        if not entry.published:
            return Signed(entry.event, entry.payload, {}, ())
        state = DeliveryState.SUPERSEDED if superseded else DeliveryState.PENDING
        event = entry.event
        where = replaceable(event.kind, event.id, event.pubkey, entry.username)
        held = (
            ()
            if superseded
            else tuple(
                Delivery(event.id, url, where, event.created_at, entry.payload)
                for url in self._relays
                if url in entry.hold
            )
        )
        return Signed(event, entry.payload, dict.fromkeys(self._relays, state), held)


def _event_row(entry: Entry, mark: float) -> tuple[object, ...]:
    event = entry.event
    return (
        entry.seq,
        event.id,
        entry.d,
        event.created_at,
        event.pubkey,
        entry.username,
        entry.score,
        entry.payload,
        mark,
        event.kind,
        entry.level,
    )
