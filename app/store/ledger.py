"""Signing into the store: claims become events with their deliveries, in one transaction."""

from __future__ import annotations

import json
import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.delivery.model import Delivery, DeliveryState
from app.scores.score_event import address, identifier
from app.store import holders
from app.store.api_keys import KeyRevoked, active_keys

if TYPE_CHECKING:
    from sqlalchemy import Connection
    from sqlalchemy.engine.interfaces import DBAPICursor

    from app.nostr.event import Event
    from app.scores.score import Claim

# How far an address's created_at may run ahead of the clock, in seconds.
MAX_LEAD = 60

# (claim, created_at) -> the signed score event
Sign = Callable[["Claim", int], "Event"]


class ClockBehind(Exception):
    """The machine's clock reads earlier than a time at which it has signed before.

    Attributes:
        seconds: how far it is behind.
    """

    def __init__(self, seconds: int) -> None:
        super().__init__(f"the clock is {seconds} s behind a time at which a score was signed: set the clock")
        self.seconds = seconds


class TooFast(Exception):
    """An address has run as far ahead of the clock as it may.

    Attributes:
        retry_after: seconds until the next score can be signed.
    """

    def __init__(self, retry_after: int) -> None:
        super().__init__(f"too many scores for this name: post again in {retry_after} s")
        self.retry_after = retry_after


@dataclass(frozen=True, slots=True)
class Request:
    """One claim to sign.

    Attributes:
        key_id: the API key that vouches for it, checked inside the transaction; None for this process itself.
        hold: relays whose worker takes the delivery from memory right after the commit.
    """

    claim: Claim
    key_id: str | None
    hold: frozenset[str]


@dataclass(frozen=True, slots=True)
class Signed:
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


@dataclass(frozen=True, slots=True)
class NotImproved:
    """Under the policy `best`: the standing event (its id) is as good or better, and nothing was signed."""

    event_id: str


Answer = Signed | NotImproved | Exception


@dataclass(frozen=True, slots=True)
class _Version:
    """The newest event of an address."""

    seq: int
    event_id: str
    created_at: int
    score: int


@dataclass(frozen=True, slots=True)
class _Draft:
    """An event that this transaction is about to write."""

    seq: int
    d: str
    request: Request
    event: Event
    payload: str

    def row(self, signed_at: float) -> tuple[object, ...]:
        claim = self.request.claim
        return (
            self.seq,
            self.event.id,
            self.d,
            self.event.created_at,
            self.event.pubkey,
            claim.username,
            claim.score,
            self.payload,
            signed_at,
        )


# The busiest statements of the service, at the driver's level: one for each batch.
_SELECT_LAST = "SELECT seq, signed_at FROM event ORDER BY seq DESC LIMIT 1"
# SQLite takes the other columns from the row of the maximum.
_SELECT_NEWEST = """
    SELECT d, seq, id, max(created_at), score FROM event
    WHERE d IN (SELECT value FROM json_each(?)) GROUP BY d
"""
_INSERT_EVENT = """
    INSERT INTO event (seq, id, d, created_at, pubkey, username, score, payload, signed_at)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)
"""
_INSERT_DELIVERY = """
    INSERT INTO delivery (event_seq, relay_id, state, message, attempts, due, holder)
    VALUES (?, ?, ?, '', 0, ?, ?)
"""
_SUPERSEDE = f"""
    UPDATE delivery SET state = '{DeliveryState.SUPERSEDED}', due = NULL, holder = NULL
    WHERE event_seq = ? AND state = '{DeliveryState.PENDING}'
"""  # noqa: S608 - the states are constants


class Ledger:
    """Signs claims for one app key into the store.

    Args:
        sign: makes the event; called inside the transaction, because created_at follows the last one on disk.
        relays: relay URL -> its row's id; every event gets a delivery for each.
        holder: the id of this process, as the outbox knows it.
        only_improvements: the score policy `best`.
        clock: wall clock, unix seconds.
    """

    def __init__(
        self,
        *,
        sign: Sign,
        relays: Mapping[str, int],
        holder: int,
        only_improvements: bool,
        clock: Callable[[], float],
    ) -> None:
        self._sign = sign
        self._relays = relays
        self._holder = holder
        self._only_improvements = only_improvements
        self._clock = clock

    def check_clock(self, connection: Connection) -> None:
        """Check the machine's clock against the last time at which a score was signed.

        Raises:
            ClockBehind: if it reads earlier by more than MAX_LEAD seconds.
        """
        _last(connection.connection.cursor(), self._clock())

    def append(self, connection: Connection, requests: Sequence[Request]) -> list[Answer]:
        """Sign each claim and write its event and deliveries; an operation for the writer.

        Per address `created_at` is max(now, last + 1). A newer event supersedes what is still pending of an
        older one. The answer to a request is KeyRevoked, ClockBehind or TooFast where nothing was signed.
        """
        now = self._clock()
        cursor = connection.connection.cursor()
        try:
            on_disk, high_water = _last(cursor, now)
        except ClockBehind as behind:
            return [behind for _ in requests]
        active = active_keys(cursor, {request.key_id for request in requests if request.key_id})
        newest = _read_newest(cursor, {identifier(request.claim.username) for request in requests})
        superseded: set[int] = set()
        outcomes: list[_Draft | NotImproved | Exception] = []
        seq = on_disk
        for request in requests:
            d = identifier(request.claim.username)
            before = newest.get(d)
            outcome: _Draft | NotImproved | Exception
            if request.key_id and request.key_id not in active:
                outcome = KeyRevoked()
            elif before and self._only_improvements and request.claim.score <= before.score:
                outcome = NotImproved(before.event_id)
            elif before and before.created_at + 1 > now + MAX_LEAD:
                outcome = TooFast(math.ceil(before.created_at + 1 - MAX_LEAD - now))
            else:
                seq += 1
                signed = self._sign(request.claim, max(int(now), before.created_at + 1 if before else 0))
                outcome = _Draft(seq, d, request, signed, signed.to_json())
                newest[d] = _Version(seq, signed.id, signed.created_at, request.claim.score)
                if before:
                    superseded.add(before.seq)
            outcomes.append(outcome)
        drafts = [outcome for outcome in outcomes if isinstance(outcome, _Draft)]
        self._write(cursor, drafts, superseded, now, max(now, high_water))
        cursor.executemany(_SUPERSEDE, [(older,) for older in superseded if older <= on_disk])
        return [self._signed(o, o.seq in superseded) if isinstance(o, _Draft) else o for o in outcomes]

    def _write(
        self, cursor: DBAPICursor, drafts: list[_Draft], superseded: set[int], now: float, signed_at: float
    ) -> None:
        if any(draft.request.hold for draft in drafts):
            holders.beat(cursor, self._holder, self._clock())
        cursor.executemany(_INSERT_EVENT, [draft.row(signed_at) for draft in drafts])
        rows: list[tuple[object, ...]] = []
        for draft in drafts:
            for url, relay_id in self._relays.items():
                if draft.seq in superseded:
                    rows.append((draft.seq, relay_id, DeliveryState.SUPERSEDED.value, None, None))
                else:
                    holder = self._holder if url in draft.request.hold else None
                    rows.append((draft.seq, relay_id, DeliveryState.PENDING.value, now, holder))
        cursor.executemany(_INSERT_DELIVERY, rows)

    def _signed(self, draft: _Draft, superseded: bool) -> Signed:
        state = DeliveryState.SUPERSEDED if superseded else DeliveryState.PENDING
        where = address(draft.event.pubkey, draft.request.claim.username)
        held = (
            ()
            if superseded
            else tuple(
                Delivery(draft.event.id, url, where, draft.event.created_at, draft.payload)
                for url in self._relays
                if url in draft.request.hold
            )
        )
        return Signed(draft.event, draft.payload, dict.fromkeys(self._relays, state), held)


def _last(cursor: DBAPICursor, now: float) -> tuple[int, float]:
    cursor.execute(_SELECT_LAST)
    seq, high_water = cursor.fetchone() or (0, 0.0)
    if now < high_water - MAX_LEAD:
        raise ClockBehind(math.ceil(high_water - now))
    return seq, high_water


def _read_newest(cursor: DBAPICursor, ds: set[str]) -> dict[str, _Version]:
    cursor.execute(_SELECT_NEWEST, (json.dumps(list(ds)),))
    return {d: _Version(*row) for d, *row in cursor.fetchall()}
