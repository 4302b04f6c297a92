"""Matches written: each step of one is a transaction, and its end is one with the score and the transcript.

A match is a fold over its plays, so what is kept of a hand is the cards in the order played. A step is
written only onto the state that it was made for: of two that are made at once, one is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.matches.transcript import KIND as TRANSCRIPT
from app.matches.transcript import Forfeit, Transcript
from app.principal import PUBLISH_ANY, Principal, key_id_of
from app.scores.score import Claim
from app.scores.score_event import identifier
from app.store.cursor import cursor_of
from app.store.journal import Entry, Signed, ask_last
from app.store.ledger import NotImproved, Request
from app.store.match_rows import close_match, deal_match, open_match, play_match
from app.store.matches import MatchState, StoredMatch, Unpublished, find_unfinished, lock_match
from app.store.names import Name, ask_names, lock_names, write_owners
from app.store.refusals import (
    ClockBehind,
    KeyRevoked,
    MatchUnfinished,
    NameBanned,
    NameTaken,
    Refused,
    TooFast,
)
from app.store.rights import ask_active_keys, check_abandoned, check_key, check_name

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from app.matches.commitment import Terms
    from app.matches.match import Match
    from app.nostr.event import Event
    from app.store.cursor import Cursor
    from app.store.journal import Journal
    from app.store.ledger import Ledger
    from app.store.match_steps import Deal, Ending, Opening, Step

# (terms, commitment, created_at) -> the signed event that commits to it
SignCommitment = Callable[["Terms", str, int], "Event"]
# (transcript, created_at) -> the signed event that holds it
SignTranscript = Callable[[Transcript, int], "Event"]

Published = tuple[Signed, ...]
"""Events that are on disk, and on their way to the relays."""


@dataclass(frozen=True, slots=True)
class Written:
    """A step that is on disk.

    Attributes:
        due: when the match expires now, if it is not over; unix seconds.
        published: what its end brought about.
        closed: the match as it is after its end; None if it has not ended.
    """

    due: float
    published: Published = ()
    closed: StoredMatch | None = None


class MatchBook:
    """The matches of one app key in the store.

    Args:
        sign_commitment, sign_transcript: called inside the transaction.
        ledger: signs the scores.
        journal: writes events with their deliveries.
        expiry: seconds for which a match may rest.
        publishes: whether transcripts go to the relays.
        clock: wall clock, unix seconds.
        patient_clock: the same, but no step ahead hurries it: what has expired by it has expired.
    """

    def __init__(
        self,
        *,
        sign_commitment: SignCommitment,
        sign_transcript: SignTranscript,
        ledger: Ledger,
        journal: Journal,
        expiry: float,
        publishes: bool,
        clock: Callable[[], float],
        patient_clock: Callable[[], float],
    ) -> None:
        self._sign_commitment = sign_commitment
        self._sign_transcript = sign_transcript
        self._ledger = ledger
        self._journal = journal
        self._expiry = expiry
        self._publishes = publishes
        self._clock = clock
        self._patient_clock = patient_clock

    def open(self, connection: Connection, openings: Sequence[Opening]) -> list[Published | Refused]:
        """Commit to each match and claim its name; an operation for the writer.

        The answer to one is one of `Refused` where nothing was signed.
        """
        cursor = cursor_of(connection)
        cursor.lock(lock_names({identifier(opening.terms.username) for opening in openings}))
        active = ask_active_keys(cursor, [opening.principal for opening in openings])()
        answers: list[Published | Refused] = []
        for opening in openings:
            try:
                answers.append(self._open(connection, opening, active))
            except Refused as refusal:
                answers.append(refusal)
        return answers

    def deal(self, connection: Connection, deals: Sequence[Deal]) -> list[float | None]:
        """Deal each match, if nothing was dealt yet; an operation for the writer.

        The answer is when the match expires now, unix seconds; None where it could not be dealt.
        """
        cursor, due = cursor_of(connection), self._clock() + self._expiry
        return [due if deal_match(cursor, deal, due) else None for deal in deals]

    def play(self, connection: Connection, steps: Sequence[Step]) -> list[Written | None]:
        """Write each step, and what its end brings about; an operation for the writer.

        The answer is None where the match is no longer what the step was made for.
        """
        cursor, due = cursor_of(connection), self._clock() + self._expiry
        cursor.lock(lock_names({step.d for step in steps if step.over}))
        answers: list[Written | None] = []
        for step in steps:
            if not play_match(cursor, step, due):
                answers.append(None)
            elif step.over is None:
                answers.append(Written(due))
            else:
                # The step was made for the row as it is, so there is nothing to read.
                answers.append(Written(due, *self._end(connection, step.over, None, step.hold)))
        return answers

    def close(self, connection: Connection, endings: Sequence[Ending]) -> list[Published | Refused]:
        """Close each match that is not closed yet, and has expired if that is why.

        An operation for the writer. The answer to one is ClockBehind where nothing can be signed now.
        """
        cursor_of(connection).lock(lock_names({ending.d for ending in endings}))
        answers: list[Published | Refused] = []
        for ending in endings:
            try:
                published, _ = self._close(connection, ending.match, ending.forfeit, ending.hold)
                answers.append(published)
            except ClockBehind as behind:
                answers.append(behind)
        return answers

    def _open(self, connection: Connection, opening: Opening, active: set[str]) -> Published:
        cursor, now, terms = cursor_of(connection), self._clock(), opening.terms
        d = identifier(terms.username)
        last, names = ask_last(cursor), ask_names(cursor, {d})
        last().check(now)
        check_key(opening.principal, active)
        unowned = check_name(names().get(d), d, opening.principal)
        before = find_unfinished(connection, d, terms.level, opening.principal.id)
        if before is not None and not before.is_due(self._patient_clock()):
            raise MatchUnfinished(before.terms.match)
        check_abandoned(connection, opening.principal, now)
        published: Published = ()
        if before is not None:
            published, _ = self._close(connection, before.terms.match, Forfeit.EXPIRED, opening.hold)
        event = self._sign_commitment(terms, opening.commitment, int(now))
        signed = self._write(cursor, event, f"{terms.match}:commitment", terms, opening.hold, now)
        if unowned:
            write_owners(cursor, [Name(d, opening.principal.id, int(now), banned=False)])
        open_match(cursor, opening, event.id, now + self._expiry)
        return (*published, signed)

    def _close(
        self, connection: Connection, match_id: str, forfeit: Forfeit | None, hold: frozenset[str]
    ) -> tuple[Published, StoredMatch | None]:
        """Close a match that was resigned, has expired, or is played to its end; raises ClockBehind.

        The answer is what that brought about, and the match as it is then; None if there is none.
        """
        found = lock_match(connection, match_id)
        if found is None or not (found.state.is_open or found.unpublished is Unpublished.WAITING):
            return (), found
        if forfeit is Forfeit.EXPIRED and not found.is_due(self._patient_clock()):
            return (), found
        return self._end(connection, found, forfeit, hold)

    def _end(
        self, connection: Connection, found: StoredMatch, forfeit: Forfeit | None, hold: frozenset[str]
    ) -> tuple[Published, StoredMatch]:
        """Close a match as it is now, which nobody else changes; otherwise like `_close`."""
        cursor, now = cursor_of(connection), self._clock()
        hand = found.hand
        if hand is None:
            return (), close_match(cursor, replace(found, state=MatchState.LAPSED, due=None, forfeit=forfeit))
        published: Published = ()
        score: Event | None = None
        unpublished: Unpublished | None = None
        state = MatchState.FORFEITED
        if hand.is_over:
            state, forfeit = MatchState.FINISHED, None
            claim = Claim(found.terms.username, hand.points.player)
            owner = Principal(
                found.principal,
                key_id_of(found.principal),
                frozenset({PUBLISH_ANY} if found.any_name else ()),
            )
            (answer,) = self._ledger.append(
                connection, [Request(claim, owner, hold, level=found.terms.level)]
            )
            match answer:
                case Signed():
                    published, score = (answer,), answer.event
                case TooFast(retry_after=wait) | ClockBehind(seconds=wait):
                    ended = replace(found, state=state, due=now + wait, unpublished=Unpublished.WAITING)
                    return (), close_match(cursor, ended)
                case NotImproved():
                    unpublished = Unpublished.NOT_IMPROVED
                case NameBanned():
                    unpublished = Unpublished.NAME_BANNED
                case NameTaken():
                    unpublished = Unpublished.NAME_TAKEN
                case KeyRevoked():
                    unpublished = Unpublished.KEY_REVOKED
                case _:
                    raise AssertionError(f"the ledger answered {answer!r}")
        event = self._sign_transcript(_transcript(found, hand, forfeit, score), int(now))
        signed = self._write(cursor, event, f"{found.terms.match}:transcript", found.terms, hold, now)
        ended = replace(
            found,
            state=state,
            due=None,
            forfeit=forfeit,
            unpublished=unpublished,
            score=None if score is None else score.id,
            transcript=event.id,
        )
        return (*published, signed), close_match(cursor, ended)

    def _write(
        self, cursor: Cursor, event: Event, d: str, terms: Terms, hold: frozenset[str], now: float
    ) -> Signed:
        """Write an event that is about a match."""
        asked, seqs = ask_last(cursor), cursor.ask_seqs(1)
        last = asked()
        last.check(now)
        (seq,) = seqs(last.seq)
        published = self._publishes or event.kind != TRANSCRIPT
        hold = hold if published else frozenset()
        entry = Entry(seq, d, terms.username, 0, event, event.to_json(), hold, published=published)
        (signed,) = self._journal.write(cursor, [entry], set(), now=now, mark=max(now, last.signed_at))
        return signed


def _transcript(found: StoredMatch, hand: Match, forfeit: Forfeit | None, score: Event | None) -> Transcript:
    if found.client_seed is None or found.statement is None:
        raise AssertionError("a hand without its deal")
    return Transcript(
        terms=found.terms,
        commitment=found.commitment,
        commitment_event=found.commitment_event,
        secrets=found.secrets,
        client_seed=found.client_seed,
        statement=found.statement,
        plays=hand.plays,
        points=hand.points,
        forfeit=forfeit,
        score_event=score,
    )
