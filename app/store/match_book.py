"""Matches written: each step of one is a transaction, and its end is one with the score and the transcript.

A match is a fold over its plays, so what is kept of a hand is the cards in the order played. A step is
written only onto the state that it was made for: of two that are made at once, one is.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.matches.transcript import KIND as TRANSCRIPT
from app.matches.transcript import Forfeit, Transcript
from app.principal import PUBLISH_ANY, Principal, key_id_of
from app.scores.score import Claim
from app.scores.score_event import identifier
from app.store.cursor import cursor_of
from app.store.journal import Entry, Signed, ask_last
from app.store.ledger import NotImproved, Request
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
from app.store.rights import ask_active_keys, check_key, check_name

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from app.briscola.cards import Card
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

_INSERT = """
    INSERT INTO match (id, d, username, principal, any_name, player, level, token, server_seed, salt,
                       commitment, commitment_seq, state, due, plays)
    VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?, ?, ?, (SELECT seq FROM event WHERE id = ?), ?, ?, '')
"""
_DEAL = f"""
    UPDATE match SET client_seed = ?, statement = ?, state = '{MatchState.PLAYING}', due = ?
    WHERE id = ? AND state = '{MatchState.COMMITTED}' RETURNING id
"""  # noqa: S608 - the states are constants
_PLAY = f"""
    UPDATE match SET plays = ?, due = ? WHERE id = ? AND state = '{MatchState.PLAYING}' AND plays = ?
    RETURNING id
"""  # noqa: S608 - the state is a constant
_CLOSE = """
    UPDATE match SET state = ?, due = ?, forfeit = ?, unpublished = ?,
    score_seq = (SELECT seq FROM event WHERE id = ?), transcript_seq = (SELECT seq FROM event WHERE id = ?)
    WHERE id = ?
"""


Published = tuple[Signed, ...]
"""Events that are on disk, and on their way to the relays."""


@dataclass(frozen=True, slots=True)
class Written:
    """A step that is on disk.

    Attributes:
        due: when the match expires now, if it is not over; unix seconds.
        published: what its end brought about.
    """

    due: float
    published: Published


class MatchBook:
    """The matches of one app key in the store.

    Args:
        sign_commitment, sign_transcript: called inside the transaction.
        ledger: signs the scores.
        journal: writes events with their deliveries.
        expiry: seconds for which a match may rest.
        publishes: whether transcripts go to the relays.
        clock: wall clock, unix seconds.
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
    ) -> None:
        self._sign_commitment = sign_commitment
        self._sign_transcript = sign_transcript
        self._ledger = ledger
        self._journal = journal
        self._expiry = expiry
        self._publishes = publishes
        self._clock = clock

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

    def deal(self, connection: Connection, deals: Sequence[Deal]) -> list[bool]:
        """Deal each match, if nothing was dealt yet; an operation for the writer."""
        cursor, due = cursor_of(connection), self._clock() + self._expiry
        return [
            bool(cursor.fetch(_DEAL, deal.client_seed.hex(), deal.statement.to_json(), due, deal.match))
            for deal in deals
        ]

    def play(self, connection: Connection, steps: Sequence[Step]) -> list[Written | None]:
        """Write each step, and what its end brings about; an operation for the writer.

        The answer is None where the match is no longer what the step was made for.
        """
        cursor, due = cursor_of(connection), self._clock() + self._expiry
        cursor.lock(lock_names({step.d for step in steps if step.ends}))
        answers: list[Written | None] = []
        for step in steps:
            cards = _text(step.before + step.cards)
            if not cursor.fetch(_PLAY, cards, due, step.match, _text(step.before)):
                answers.append(None)
            elif step.ends:
                answers.append(Written(due, self._close(connection, step.match, None, step.hold)))
            else:
                answers.append(Written(due, ()))
        return answers

    def close(self, connection: Connection, endings: Sequence[Ending]) -> list[Published | Refused]:
        """Close each match that is not closed yet, and has expired if that is why.

        An operation for the writer. The answer to one is ClockBehind where nothing can be signed now.
        """
        cursor_of(connection).lock(lock_names({ending.d for ending in endings}))
        answers: list[Published | Refused] = []
        for ending in endings:
            try:
                answers.append(self._close(connection, ending.match, ending.forfeit, ending.hold))
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
        published: Published = ()
        before = find_unfinished(connection, d, terms.level, opening.principal.id)
        if before is not None:
            if not before.is_due(now):
                raise MatchUnfinished(before.terms.match)
            published = self._close(connection, before.terms.match, Forfeit.EXPIRED, opening.hold)
        event = self._sign_commitment(terms, opening.commitment, int(now))
        signed = self._write(cursor, event, f"{terms.match}:commitment", terms, opening.hold, now)
        if unowned:
            write_owners(cursor, [Name(d, opening.principal.id, int(now), banned=False)])
        cursor.run(
            _INSERT,
            *(terms.match, d, terms.username, opening.principal.id, opening.principal.may_publish_any),
            *(terms.player, terms.level, opening.token),
            *(opening.secrets.server_seed.hex(), opening.secrets.salt.hex(), opening.commitment, event.id),
            *(MatchState.COMMITTED.value, now + self._expiry),
        )
        return (*published, signed)

    def _close(
        self, connection: Connection, match_id: str, forfeit: Forfeit | None, hold: frozenset[str]
    ) -> Published:
        """Close a match that was resigned, has expired, or is played to its end; raises ClockBehind."""
        cursor, now = cursor_of(connection), self._clock()
        found = lock_match(connection, match_id)
        if found is None or not (found.state.is_open or found.unpublished is Unpublished.WAITING):
            return ()
        if forfeit is Forfeit.EXPIRED and not found.is_due(now):
            return ()
        hand = found.hand()
        if hand is None:
            cursor.run(_CLOSE, MatchState.LAPSED.value, None, forfeit, None, None, None, match_id)
            return ()
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
                    waiting = Unpublished.WAITING.value
                    cursor.run(_CLOSE, state.value, now + wait, None, waiting, None, None, match_id)
                    return ()
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
        signed = self._write(cursor, event, f"{match_id}:transcript", found.terms, hold, now)
        cursor.run(
            _CLOSE,
            *(state.value, None, forfeit, unpublished and unpublished.value),
            *(score and score.id, event.id, match_id),
        )
        return (*published, signed)

    def _write(
        self, cursor: Cursor, event: Event, d: str, terms: Terms, hold: frozenset[str], now: float
    ) -> Signed:
        """Write an event that is about a match."""
        asked, seqs = ask_last(cursor), cursor.ask_seqs(1)
        last = asked()
        last.check(now)
        (seq,) = seqs(last.seq)
        published = self._publishes or event.kind != TRANSCRIPT
        entry = Entry(
            seq,
            d,
            terms.username,
            0,
            event,
            event.to_json(),
            hold if published else frozenset(),
            None,
            published,
        )
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


def _text(cards: Sequence[Card]) -> str:
    return " ".join(map(str, cards))
