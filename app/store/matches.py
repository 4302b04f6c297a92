"""Matches read back: all that is kept of one, what is due, how many a name has begun and ended."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from sqlalchemy import ColumnElement, Select, case, func, select

from app.briscola.cards import parse_card
from app.matches.commitment import Secrets, Terms
from app.matches.match import Match
from app.matches.transcript import Forfeit
from app.nostr.event import parse_event
from app.store.tables import event, match

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection, Row

    from app.briscola.cards import Card
    from app.nostr.event import Event


class MatchState(StrEnum):
    """How far a match has come."""

    COMMITTED = "committed"  # the seed is committed to, nothing is dealt
    PLAYING = "playing"
    FINISHED = "finished"  # every card is played
    FORFEITED = "forfeited"  # resigned or expired after the deal
    LAPSED = "lapsed"  # resigned or expired before it

    @property
    def is_open(self) -> bool:
        """Whether the player has still something to do."""
        return self in (MatchState.COMMITTED, MatchState.PLAYING)


class Unpublished(StrEnum):
    """Why a finished match has no score event."""

    WAITING = "waiting"  # the name is too far ahead of the clock: it comes by itself
    NOT_IMPROVED = "not-improved"  # policy `best`: the standing score is as good or better
    NAME_TAKEN = "name-taken"
    NAME_BANNED = "name-banned"
    KEY_REVOKED = "key-revoked"  # the API key that opened the match is no longer good


@dataclass(frozen=True, slots=True)
class Tally:
    """How many matches of a name were dealt, and how they ended."""

    dealt: int
    finished: int
    forfeited: int


@dataclass(frozen=True, slots=True)
class Proof:
    """The match that proves a score.

    Attributes:
        transcript: the id of the event that holds its transcript.
        matches: of the name, so that picking the best hand shows.
    """

    match: str
    level: str
    transcript: str
    matches: Tally


@dataclass(frozen=True, slots=True)
class StoredMatch:
    """All that is kept of a match; no text of it shows a seed or the token.

    Attributes:
        principal: the id of whoever opened it.
        any_name: whether they may publish names of others.
        token: the hash of the one that plays it.
        due: when something is to be done about it, unix seconds; None once nothing is.
        client_seed: None until it is dealt, like `statement` and `hand`.
        hand: as it stands.
        score: the id of the score event; None while, or if, there is none.
        transcript: the id of the event that holds it; None while there is none.
    """

    terms: Terms
    principal: str
    any_name: bool
    token: str = field(repr=False)
    secrets: Secrets = field(repr=False)
    commitment: str
    commitment_event: Event = field(repr=False)
    state: MatchState
    due: float | None
    client_seed: bytes | None = field(repr=False)
    statement: Event | None = field(repr=False)
    hand: Match | None
    forfeit: Forfeit | None
    unpublished: Unpublished | None
    score: str | None
    transcript: str | None

    @property
    def cards(self) -> tuple[Card, ...]:
        """Both sides' cards, in the order played."""
        return tuple(ply.card for ply in self.hand.plays) if self.hand else ()

    def dealt(self, client_seed: bytes, statement: Event, due: float) -> StoredMatch:
        """The match once it is dealt with the player's seed."""
        return replace(
            self,
            state=MatchState.PLAYING,
            due=due,
            client_seed=client_seed,
            statement=statement,
            hand=Match.deal(self.terms, self.secrets.server_seed, client_seed),
        )

    def is_due(self, now: float) -> bool:
        """Whether something is to be done about it by now."""
        return self.due is not None and self.due <= now


_commitment, _score, _transcript = event.alias(), event.alias(), event.alias()
_QUERY = (
    select(
        match,
        _commitment.c.payload.label("commitment_event"),
        _score.c.id.label("score"),
        _transcript.c.id.label("transcript"),
    )
    .join(_commitment, _commitment.c.seq == match.c.commitment_seq)
    .outerjoin(_score, _score.c.seq == match.c.score_seq)
    .outerjoin(_transcript, _transcript.c.seq == match.c.transcript_seq)
)


def find_match(connection: Connection, match_id: str) -> StoredMatch | None:
    """The match with this id."""
    return _first(connection, _QUERY.where(match.c.id == match_id))


def lock_match(connection: Connection, match_id: str) -> StoredMatch | None:
    """The match with this id, which nobody else changes until the transaction ends."""
    return _first(connection, _QUERY.where(match.c.id == match_id).with_for_update(of=match))


def find_unfinished(connection: Connection, d: str, level: str, principal: str) -> StoredMatch | None:
    """The match of this name and level that is still to be played by whoever opened it, named by their id."""
    still = match.c.state.in_([state.value for state in MatchState if state.is_open])
    theirs = (match.c.d == d, match.c.level == level, match.c.principal == principal)
    return _first(connection, _QUERY.where(*theirs, still))


def nth_abandoned(connection: Connection, principal: str, n: int) -> int | None:
    """When the n-th newest match of somebody that is not played to its end was opened, in unix seconds.

    None if there are fewer.
    """
    query = select(event.c.created_at).join(match, match.c.commitment_seq == event.c.seq)
    theirs = query.where(match.c.principal == principal, match.c.state != MatchState.FINISHED.value)
    return connection.scalar(theirs.order_by(match.c.commitment_seq.desc()).offset(n - 1).limit(1))


def due_matches(connection: Connection, now: float, limit: int = 50) -> list[str]:
    """The ids of matches about which something is to be done by now, the longest due first."""
    query = select(match.c.id).where(match.c.due <= now).order_by(match.c.due).limit(limit)
    return [*connection.scalars(query)]


def find_transcript(connection: Connection, match_id: str) -> str | None:
    """The event that holds the transcript of a match, as JSON text."""
    query = select(event.c.payload).join(match, match.c.transcript_seq == event.c.seq)
    return connection.scalar(query.where(match.c.id == match_id))


def tally_of(connection: Connection, d: str) -> Tally:
    """How many matches of a name were dealt, and how they ended."""
    query = select(
        _count(match.c.client_seed.is_not(None)),
        _count(match.c.state == MatchState.FINISHED.value),
        _count(match.c.state == MatchState.FORFEITED.value),
    )
    return Tally(*connection.execute(query.where(match.c.d == d)).one())


def find_proof(connection: Connection, score_seq: int) -> Proof | None:
    """The match that proves a score, named by its `seq`."""
    query = select(match.c.id, match.c.d, match.c.level, event.c.id.label("transcript"))
    query = query.join(event, event.c.seq == match.c.transcript_seq).where(match.c.score_seq == score_seq)
    row = connection.execute(query).first()
    return row and Proof(row.id, row.level, row.transcript, tally_of(connection, row.d))


def find_proofs(connection: Connection, event_ids: Sequence[str]) -> list[tuple[str, str, str, str]]:
    """Of those scores that a match proves: event id, match, level, and the event id of the transcript."""
    query = (
        select(_score.c.id, match.c.id, match.c.level, _transcript.c.id)
        .join(match, match.c.score_seq == _score.c.seq)
        .join(_transcript, _transcript.c.seq == match.c.transcript_seq)
        .where(_score.c.id.in_(event_ids))
    )
    return [(score, *rest) for score, *rest in connection.execute(query)]


def _count(condition: ColumnElement[bool]) -> ColumnElement[int]:
    return func.count(case((condition, 1)))


def _first(connection: Connection, query: Select[Any]) -> StoredMatch | None:
    row = connection.execute(query).first()
    return None if row is None else _read(row)


def _read(row: Row[Any]) -> StoredMatch:
    terms = Terms(row.id, row.player, row.username, row.level)
    secrets = Secrets(bytes.fromhex(row.server_seed), bytes.fromhex(row.salt))
    client_seed = None if row.client_seed is None else bytes.fromhex(row.client_seed)
    hand = None
    if client_seed is not None:
        hand = Match.deal(terms, secrets.server_seed, client_seed, map(parse_card, row.plays.split()))
    return StoredMatch(
        terms=terms,
        principal=row.principal,
        any_name=row.any_name,
        token=row.token,
        secrets=secrets,
        commitment=row.commitment,
        commitment_event=parse_event(row.commitment_event),
        state=MatchState(row.state),
        due=row.due,
        client_seed=client_seed,
        statement=None if row.statement is None else parse_event(row.statement),
        hand=hand,
        forfeit=None if row.forfeit is None else Forfeit(row.forfeit),
        unpublished=None if row.unpublished is None else Unpublished(row.unpublished),
        score=row.score,
        transcript=row.transcript,
    )
