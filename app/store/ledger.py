"""Signing into the store: claims become events with their deliveries, in one transaction."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, NamedTuple

from app.scores.score_event import identifier
from app.store.cursor import cursor_of
from app.store.idempotency import Attempt, Result, ask_results, write_results
from app.store.journal import MAX_LEAD, Entry, Journal, Signed, Version, ask_last, ask_newest
from app.store.names import Name, ask_names, lock_names, write_owners
from app.store.refusals import (
    ClockBehind,
    KeyReused,
    NothingToDelete,
    NotOwner,
    Refused,
    TooFast,
)
from app.store.rights import ask_active_keys, check_key, check_name

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from app.nostr.event import Event
    from app.principal import Principal
    from app.scores.score import Claim
    from app.store.cursor import Cursor

# (claim, created_at) -> the signed score event
Sign = Callable[["Claim", int], "Event"]
# (d, created_at) -> the signed deletion of the score of that name
SignDeletion = Callable[[str, int], "Event"]


class Request(NamedTuple):
    """One claim to sign.

    Attributes:
        principal: who makes it; None for this process itself, which owns no name and may publish every one.
        hold: relays whose worker takes the delivery from memory right after the commit.
        attempt: set if the request is to be answered once, however often it is sent.
        level: the computer's that the score was played against, if a match proves it.
    """

    claim: Claim
    principal: Principal | None
    hold: frozenset[str]
    attempt: Attempt | None = None
    level: str | None = None


@dataclass(frozen=True, slots=True)
class Deletion:
    """The score of one name to delete; `principal` and `hold` as for `Request`."""

    username: str
    principal: Principal
    hold: frozenset[str]


@dataclass(frozen=True, slots=True)
class NotImproved:
    """Under the policy `best`: the standing event (its id) is as good or better, and nothing was signed.

    Attributes:
        replayed: the answer is that to the same attempt before.
    """

    event_id: str
    replayed: bool = False


@dataclass(frozen=True, slots=True)
class Replayed:
    """The same attempt was answered before, and this is the event (its id) that was signed for it."""

    event_id: str


Answer = Signed | NotImproved | Replayed | Refused


class Ledger:
    """Signs claims and deletions for one app key into the store.

    Args:
        sign: makes a score event; called inside the transaction, because created_at follows the last one on
            disk.
        sign_deletion: makes a deletion, likewise.
        journal: writes events with their deliveries.
        only_improvements: the score policy `best`.
        clock: wall clock, unix seconds.
    """

    def __init__(
        self,
        *,
        sign: Sign,
        sign_deletion: SignDeletion,
        journal: Journal,
        only_improvements: bool,
        clock: Callable[[], float],
    ) -> None:
        self._sign = sign
        self._sign_deletion = sign_deletion
        self._journal = journal
        self._only_improvements = only_improvements
        self._clock = clock

    def check_clock(self, connection: Connection) -> None:
        """Check the machine's clock against the last time at which a score was signed.

        Raises:
            ClockBehind: if it reads earlier by more than MAX_LEAD seconds.
        """
        ask_last(cursor_of(connection))().check(self._clock())

    def append(self, connection: Connection, requests: Sequence[Request]) -> list[Answer]:
        """Sign each claim and write its event and deliveries; an operation for the writer.

        Per address `created_at` is max(now, last + 1). A newer event supersedes what is still pending of an
        older score. A name that nobody owns becomes the principal's. The answer to a request is one of
        `Refused` where nothing was signed.
        """
        cursor = cursor_of(connection)
        ds = {identifier(request.claim.username) for request in requests}
        attempts = [request.attempt for request in requests if request.attempt]
        cursor.lock([*lock_names(ds), *(f"attempt {attempt.id}" for attempt in attempts)])
        asked = ask_last(cursor)
        seqs = cursor.ask_seqs(len(requests))
        active = ask_active_keys(cursor, [request.principal for request in requests])
        newest = ask_newest(cursor, ds)
        names = ask_names(cursor, ds)
        results = ask_results(cursor, attempts, self._clock())
        last = asked()
        now = self._clock()  # once the locks are had, for which it may have waited
        try:
            last.check(now)
        except ClockBehind as behind:
            return [behind for _ in requests]
        batch = _Batch(
            sign=self._sign,
            only_improvements=self._only_improvements,
            now=now,
            seqs=iter(seqs(last.seq)),
            active=active(),
            newest=newest(),
            names=names(),
            results=results(),
        )
        decided = [batch.decide(request) for request in requests]
        entries = [outcome for outcome in decided if isinstance(outcome, Entry)]
        mark = max(now, last.signed_at)
        signed = iter(self._journal.write(cursor, entries, batch.superseded, now=now, mark=mark))
        write_owners(cursor, batch.claimed)
        write_results(cursor, batch.fresh_results, now)
        return [next(signed) if isinstance(outcome, Entry) else outcome for outcome in decided]

    def delete(self, connection: Connection, requests: Sequence[Deletion]) -> list[Signed | Refused]:
        """Sign the deletion of each name's score, as its owner or an admin asks; an operation for the writer.

        It takes the address's next `created_at`, so it covers every version before, and supersedes what is
        pending of them. The answer to a request is one of `Refused` where nothing was signed.
        """
        cursor = cursor_of(connection)
        cursor.lock(lock_names({identifier(request.username) for request in requests}))
        active = ask_active_keys(cursor, [request.principal for request in requests])()
        answers: list[Signed | Refused] = []
        for request in requests:
            try:
                answers.append(self._delete(cursor, request, active))
            except Refused as refusal:
                answers.append(refusal)
        return answers

    def _delete(self, cursor: Cursor, request: Deletion, active: set[str]) -> Signed:
        now = self._clock()
        d = identifier(request.username)
        asked, newest, names = ask_last(cursor), ask_newest(cursor, {d}), ask_names(cursor, {d})
        seqs = cursor.ask_seqs(1)
        last = asked()
        last.check(now)
        check_key(request.principal, active)
        before = newest().get(d)
        if before is None or not before.is_score:
            raise NothingToDelete(before.created_at if before else None)
        name = names().get(d)
        if not request.principal.is_admin and (name is None or name.owner != request.principal.id):
            raise NotOwner(d)
        event = self._sign_deletion(d, _next_created_at(before, now))
        (seq,) = seqs(last.seq)
        entry = Entry(seq, d, d, before.score, event, event.to_json(), request.hold)
        (signed,) = self._journal.write(cursor, [entry], {before.seq}, now=now, mark=max(now, last.signed_at))
        return signed


@dataclass(slots=True)
class _Batch:
    """What the requests of one transaction know of the store, kept up to date as they are decided."""

    sign: Sign
    only_improvements: bool
    now: float
    seqs: Iterator[int]
    active: set[str]
    newest: dict[str, Version]
    names: dict[str, Name]
    results: dict[str, Result]
    superseded: set[int] = field(default_factory=set)
    claimed: list[Name] = field(default_factory=list)
    fresh_results: dict[str, Result] = field(default_factory=dict)

    def decide(self, request: Request) -> Entry | NotImproved | Replayed | Refused:
        """Sign a request's claim, or say why not."""
        try:
            check_key(request.principal, self.active)
            if request.attempt and request.attempt.id in self.results:
                return self._replay(request.attempt)
            return self._append(request)
        except Refused as refusal:
            return refusal

    def _replay(self, attempt: Attempt) -> NotImproved | Replayed:
        result = self.results[attempt.id]
        if result.fingerprint != attempt.fingerprint:
            raise KeyReused
        if result.improved:
            return Replayed(result.event_id)
        return NotImproved(result.event_id, replayed=True)

    def _append(self, request: Request) -> Entry | NotImproved:
        claim = request.claim
        d = identifier(claim.username)
        unowned = check_name(self.names.get(d), d, request.principal)
        before = self.newest.get(d)
        if before and before.is_score and self.only_improvements and not _improves(request, before):
            self._note(request.attempt, before, improved=False)
            return NotImproved(before.event_id)
        event = self.sign(claim, _next_created_at(before, self.now))
        entry = Entry(
            next(self.seqs),
            d,
            claim.username,
            claim.score,
            event,
            event.to_json(),
            request.hold,
            request.level,
        )
        self.newest[d] = entry.version()
        if before and before.is_score:
            self.superseded.add(before.seq)
        if unowned and request.principal:
            self.names[d] = Name(d, request.principal.id, int(self.now), banned=False)
            self.claimed.append(self.names[d])
        self._note(request.attempt, self.newest[d], improved=True)
        return entry

    def _note(self, attempt: Attempt | None, version: Version, *, improved: bool) -> None:
        if attempt:
            result = Result(attempt.fingerprint, version.seq, version.event_id, improved)
            self.results[attempt.id] = self.fresh_results[attempt.id] = result


def _improves(request: Request, before: Version) -> bool:
    """Whether a score takes the place of one that stands, where only improvements do.

    Like is compared with like: claimed scores with each other, and those proved at one level. Otherwise the
    newer one stands, but for a claim, which never takes the place of a proved score.
    """
    if request.level == before.level:
        return request.claim.score > before.score
    return request.level is not None


def _next_created_at(before: Version | None, now: float) -> int:
    """The `created_at` of an address's next event, unix seconds.

    Raises:
        TooFast: if it would run too far ahead of the clock.
    """
    if before is None:
        return int(now)
    if before.created_at + 1 > now + MAX_LEAD:
        raise TooFast(math.ceil(before.created_at + 1 - MAX_LEAD - now))
    return max(int(now), before.created_at + 1)
