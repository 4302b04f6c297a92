"""Signing into the store: claims become events with their deliveries, in one transaction."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import bindparam, func, insert, select, update

from app.delivery.model import Delivery, DeliveryState
from app.scores.score_event import address, identifier
from app.store.api_keys import KeyRevoked, active_keys
from app.store.tables import delivery, event

if TYPE_CHECKING:
    from sqlalchemy import Connection

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
    request: Request
    event: Event
    payload: str


_newest = (
    select(event.c.d, func.max(event.c.created_at).label("created_at"))
    .where(event.c.d.in_(bindparam("ds", expanding=True)))
    .group_by(event.c.d)
    .subquery()
)
_SELECT_NEWEST = select(event.c.d, event.c.seq, event.c.id, event.c.created_at, event.c.score).join(
    _newest, (event.c.d == _newest.c.d) & (event.c.created_at == _newest.c.created_at)
)
_SELECT_LAST = select(event.c.seq, event.c.signed_at).order_by(event.c.seq.desc()).limit(1)
_SUPERSEDE = (
    update(delivery)
    .where(delivery.c.event_seq == bindparam("older"), delivery.c.state == DeliveryState.PENDING)
    .values(state=DeliveryState.SUPERSEDED, due=None, holder=None)
)


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
        _last(connection, self._clock())

    def append(self, connection: Connection, requests: Sequence[Request]) -> list[Answer]:
        """Sign each claim and write its event and deliveries; an operation for the writer.

        Per address `created_at` is max(now, last + 1). A newer event supersedes what is still pending of an
        older one. The answer to a request is KeyRevoked, ClockBehind or TooFast where nothing was signed.
        """
        now = self._clock()
        try:
            on_disk, high_water = _last(connection, now)
        except ClockBehind as behind:
            return [behind for _ in requests]
        active = active_keys(connection, {request.key_id for request in requests if request.key_id})
        newest = _read_newest(connection, {identifier(request.claim.username) for request in requests})
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
                outcome = _Draft(seq, request, signed, signed.to_json())
                newest[d] = _Version(seq, signed.id, signed.created_at, request.claim.score)
                if before:
                    superseded.add(before.seq)
            outcomes.append(outcome)
        drafts = [outcome for outcome in outcomes if isinstance(outcome, _Draft)]
        if drafts:
            self._write(connection, drafts, superseded, max(now, high_water))
        if older := [{"older": s} for s in superseded if s <= on_disk]:
            connection.execute(_SUPERSEDE, older)
        return [self._signed(o, o.seq in superseded) if isinstance(o, _Draft) else o for o in outcomes]

    def _write(
        self, connection: Connection, drafts: list[_Draft], superseded: set[int], signed_at: float
    ) -> None:
        connection.execute(
            insert(event),
            [
                {
                    "seq": draft.seq,
                    "id": draft.event.id,
                    "d": identifier(draft.request.claim.username),
                    "created_at": draft.event.created_at,
                    "pubkey": draft.event.pubkey,
                    "username": draft.request.claim.username,
                    "score": draft.request.claim.score,
                    "payload": draft.payload,
                    "signed_at": signed_at,
                }
                for draft in drafts
            ],
        )
        connection.execute(
            insert(delivery),
            [
                {
                    "event_seq": draft.seq,
                    "relay_id": relay_id,
                    "state": DeliveryState.SUPERSEDED if draft.seq in superseded else DeliveryState.PENDING,
                    "message": "",
                    "attempts": 0,
                    "due": None if draft.seq in superseded else signed_at,
                    "holder": self._holder if url in draft.request.hold else None,
                }
                for draft in drafts
                for url, relay_id in self._relays.items()
            ],
        )

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


def _last(connection: Connection, now: float) -> tuple[int, float]:
    seq, high_water = connection.execute(_SELECT_LAST).tuples().first() or (0, 0.0)
    if now < high_water - MAX_LEAD:
        raise ClockBehind(math.ceil(high_water - now))
    return seq, high_water


def _read_newest(connection: Connection, ds: set[str]) -> dict[str, _Version]:
    rows = connection.execute(_SELECT_NEWEST, {"ds": list(ds)}).tuples()
    return {d: _Version(*row) for d, *row in rows}
