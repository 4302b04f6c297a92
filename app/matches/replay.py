"""A transcript checked from beginning to end, by whoever has it and the app's public keys.

Pure: no settings, no secret, no store, no network. Whatever the transcript is, the answer is a verdict.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from app.briscola.computer import MASTER
from app.briscola.errors import IllegalAction
from app.matches.commitment import commitment
from app.matches.match import PLIES, Match, Points, Side
from app.matches.opening import commitment_fault, statement_fault
from app.matches.signed_event import event_fault
from app.matches.transcript import KIND, InvalidTranscript, Transcript, read_transcript
from app.scores.score_event import KIND as SCORE_KIND
from app.scores.score_event import score_template
from app.verifier import app_keys

if TYPE_CHECKING:
    from collections.abc import Iterator

    from app.matches.commitment import Terms
    from app.matches.transcript import Forfeit
    from app.nostr.event import Event
    from app.verifier import AppKeys, Source

NEVER_PROVED = (
    "that service and player did not work together: whoever knows both seeds can choose the deal",
    "that a person chose the player's cards: a program may have",
    "that no hand was thrown away: a service can stop once it knows the player's seed; every commitment is "
    "public, so each one without a transcript counts against it, though a player who asks for no cards "
    "leaves one too",
)


@dataclass(frozen=True, slots=True)
class TranscriptVerdict:
    """What the replay found. One that is not `ok` vouches for nothing and carries no terms, points or proofs.

    Attributes:
        reasons: a sentence for everything that is false; empty if nothing is.
        id: the id of the event that holds the transcript, as it claims; None if it cannot be read.
        false_ply: the first ply (from 1) that breaks the rules or is not the computer's choice.
        terms: match, player, username and level.
        points: what each side took.
        forfeit: how the player gave the hand up, None for a hand played to its end.
        score_event: the id of the score event that was found to publish these points.
        choices_checked: whether the computer's plays are known to be those of its level.
        proved: what follows from the transcript, as sentences.
        not_proved: what does not, as sentences.
    """

    reasons: tuple[str, ...]
    id: str | None = None
    false_ply: int | None = None
    terms: Terms | None = None
    points: Points | None = None
    forfeit: Forfeit | None = None
    score_event: str | None = None
    choices_checked: bool = False
    proved: tuple[str, ...] = ()
    not_proved: tuple[str, ...] = ()

    @property
    def ok(self) -> bool:
        """Whether everything that was checked is true."""
        return not self.reasons

    def to_dict(self) -> dict[str, Any]:
        """The verdict as JSON tells it."""
        terms = self.terms
        return {
            "id": self.id,
            "ok": self.ok,
            "reasons": list(self.reasons),
            "false_ply": self.false_ply,
            "match": terms and terms.match,
            "player": terms and terms.player,
            "username": terms and terms.username,
            "level": terms and terms.level,
            "points": self.points and self.points._asdict(),
            "forfeit": self.forfeit,
            "score_event": self.score_event,
            "choices_checked": self.choices_checked,
            "proved": list(self.proved),
            "not_proved": list(self.not_proved),
        }


def verify_transcript(source: Source, app_pubkey: AppKeys, *, master: bool = True) -> TranscriptVerdict:
    """Check everything in a transcript: signatures, seeds, deck, every play, points and score event.

    Args:
        source: the event that holds it, as JSON text or a mapping.
        app_pubkey: the app's public key, or a set of them, hex or npub.
        master: whether the choices of the level `master` are checked too (some 0.2 s); those of the
            other levels always are.

    Raises:
        ValueError: `app_pubkey` is no key or holds none. No transcript raises anything.
    """
    keys = app_keys(app_pubkey)
    try:
        event, transcript = read_transcript(source)
    except InvalidTranscript as error:
        return TranscriptVerdict((str(error),))
    choices_checked = master or transcript.terms.level != MASTER
    replayed = _replay(transcript, choices_checked=choices_checked)
    faults = (*_event_faults(event, transcript, keys), *_match_faults(transcript, replayed))
    reasons = tuple(fault for fault in faults if fault is not None)
    if reasons:
        return TranscriptVerdict(reasons, event.id, replayed.false_ply)
    return TranscriptVerdict(
        (),
        event.id,
        terms=transcript.terms,
        points=transcript.points,
        forfeit=transcript.forfeit,
        score_event=None if transcript.score_event is None else transcript.score_event.id,
        choices_checked=choices_checked,
        proved=tuple(_proved(transcript, choices_checked=choices_checked)),
        not_proved=tuple(_not_proved(transcript, choices_checked=choices_checked)),
    )


@dataclass(frozen=True, slots=True)
class _Replayed:
    """The match as far as its plays are right; `false_ply` is the first that is not, `fault` says why."""

    match: Match
    false_ply: int | None = None
    fault: str | None = None


def _replay(transcript: Transcript, *, choices_checked: bool) -> _Replayed:
    match = Match.deal(transcript.terms, transcript.secrets.server_seed, transcript.client_seed)
    for number, (side, card) in enumerate(transcript.plays, 1):
        if side is not match.to_move:
            return _Replayed(match, number, f"ply {number} is the {match.to_move}'s, not the {side}'s")
        if choices_checked and side is Side.COMPUTER and (choice := match.choice()) is not card:
            level = transcript.terms.level
            return _Replayed(match, number, f"ply {number} is {card}, but level {level} plays {choice} here")
        try:
            match = match.after(card)
        except IllegalAction as error:
            return _Replayed(match, number, f"ply {number} breaks the rules: {error}")
    return _Replayed(match)


def _event_faults(event: Event, transcript: Transcript, keys: frozenset[str]) -> Iterator[str | None]:
    """What is wrong with the events, the transcript's own and those in it; None for each that is right."""
    terms, committed = transcript.terms, transcript.commitment
    # The content has been read, so it is what it must be.
    yield event_fault(
        event, "transcript", kind=KIND, signers=keys, tags=transcript.tags, content=event.content
    )
    yield commitment_fault(transcript.commitment_event, terms=terms, commitment=committed, app_keys=keys)
    yield statement_fault(
        transcript.statement,
        terms=terms,
        commitment_event=transcript.commitment_event.id,
        commitment=committed,
        client_seed=transcript.client_seed,
    )
    if (score := transcript.score_event) is not None:
        tags, content = score_template(terms.username, transcript.points.player)
        yield event_fault(score, "score event", kind=SCORE_KIND, signers=keys, tags=tags, content=content)


def _match_faults(transcript: Transcript, replayed: _Replayed) -> Iterator[str]:
    """What is wrong with the match itself: its commitment, its plays, how it ended."""
    if commitment(transcript.terms, transcript.secrets) != transcript.commitment:
        yield "the commitment is not the hash of match, player, level, server seed and salt"
    if replayed.fault is not None:
        yield replayed.fault
        return
    points = replayed.match.points
    if transcript.points != points:
        yield f"the points are {points.player} and {points.computer}, not as the transcript has them"
    if replayed.match.is_over != (transcript.forfeit is None):
        yield (
            "a hand is forfeited if, and only if, it is not played to its end, "
            f"and {len(transcript.plays)} of {PLIES} plies are made"
        )
    if transcript.forfeit is not None and transcript.score_event is not None:
        yield "a forfeited hand has no score event"


def _proved(transcript: Transcript, *, choices_checked: bool) -> Iterator[str]:
    yield (
        "the service had committed to its seed before the player's key signed the other: "
        "neither chose the deal alone"
    )
    yield "every play is legal, and the points follow from the plays"
    if choices_checked:
        yield f"the computer played exactly what level {transcript.terms.level} plays"
    if transcript.score_event is not None:
        yield "the score event publishes these points under this name"


def _not_proved(transcript: Transcript, *, choices_checked: bool) -> Iterator[str]:
    if not choices_checked:
        yield f"that the computer plays like level {transcript.terms.level}: its choices were not checked"
    if transcript.forfeit is not None:
        yield "that the player gave the hand up: that is the service's word"
    if transcript.score_event is None:
        yield "that the points were ever published as a score"
    yield from NEVER_PROVED
