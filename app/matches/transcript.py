"""A match as anyone can replay it: canonical JSON in an event signed by the app key.

The event is of kind 30078 (NIP-78), `d` is the match id and `e` the score event, if there is one; a reader
who has a score asks a relay for `{"kinds": [30078], "authors": [app key], "#e": [score event]}`. Its content
is one JSON object in the canonical form of RFC 8785 with exactly these fields:

| field | value |
|---|---|
| `v` | 1 |
| `match`, `variant`, `level`, `player`, `username` | as in `commitment.Terms`; the variant is `two-player` |
| `commitment` | 64 hex digits, see `commitment` |
| `commitment_event`, `statement` | whole events, see `opening` |
| `server_seed`, `salt`, `client_seed` | 64 hex digits each |
| `plays` | `["player", "B1"]` or `["computer", "D3"]` each, in order |
| `points` | `{"player": 72, "computer": 48}`, taken in these plays |
| `forfeit` | null for a hand played to its end, else `"resigned"` or `"expired"` |
| `score_event` | the whole score event; null if none was published |

Reading says what is malformed; whether any of it is true is for `replay` to say.
"""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

import rfc8785

from app.briscola.cards import parse_card
from app.briscola.errors import MalformedCard
from app.matches.commitment import VARIANT, Secrets, Terms
from app.matches.match import PLIES, Ply, Points, Side
from app.nostr import json_text
from app.nostr.event import Event, InvalidEvent, parse_event, sign_event
from app.scores.consistency import shown

if TYPE_CHECKING:
    from collections.abc import Mapping

    from app.nostr.keys import SecretKey

KIND = 30078
VERSION = 1
MAX_TEXT = 64 * 1024
"""Characters or bytes of an event that holds a transcript; an honest one has about 5,000."""
MAX_CONTENT = 16 * 1024

_FIELDS = frozenset({
    "v", "match", "variant", "level", "player", "username", "commitment", "commitment_event", "server_seed",
    "salt", "client_seed", "statement", "plays", "points", "forfeit", "score_event",
})  # fmt: skip
_SEED_DIGITS = 64


class InvalidTranscript(ValueError):
    """What was read is no transcript; the message says which part of it is malformed."""


class Forfeit(StrEnum):
    """How the player gave a hand up."""

    RESIGNED = "resigned"
    EXPIRED = "expired"

    @property
    def told(self) -> str:
        """What became of the hand, to be read after its name."""
        return "was given up" if self is Forfeit.RESIGNED else "has expired"


@dataclass(frozen=True, slots=True)
class Transcript:
    """Everything about a match that is over, its seeds included."""

    terms: Terms
    commitment: str
    commitment_event: Event
    secrets: Secrets
    client_seed: bytes
    statement: Event
    plays: tuple[Ply, ...]
    points: Points
    forfeit: Forfeit | None
    score_event: Event | None

    def canonical(self) -> str:
        """The JSON of RFC 8785.

        Raises:
            InvalidTranscript: a text has no UTF-8 form, or a number is beyond 2^53.
        """
        value: dict[str, Any] = {
            "v": VERSION,
            "match": self.terms.match,
            "variant": VARIANT,
            "level": self.terms.level,
            "player": self.terms.player,
            "username": self.terms.username,
            "commitment": self.commitment,
            "commitment_event": self.commitment_event.to_dict(),
            "server_seed": self.secrets.server_seed.hex(),
            "salt": self.secrets.salt.hex(),
            "client_seed": self.client_seed.hex(),
            "statement": self.statement.to_dict(),
            "plays": [[ply.side.value, str(ply.card)] for ply in self.plays],
            "points": self.points._asdict(),
            "forfeit": None if self.forfeit is None else self.forfeit.value,
            "score_event": None if self.score_event is None else self.score_event.to_dict(),
        }
        try:
            return rfc8785.dumps(value).decode()
        except rfc8785.CanonicalizationError as error:
            raise InvalidTranscript(f"it has no canonical form: {error}") from None

    @property
    def tags(self) -> tuple[tuple[str, ...], ...]:
        """The tags of the event that holds this transcript."""
        scored = () if self.score_event is None else (("e", self.score_event.id),)
        return (("d", self.terms.match), *scored)


def sign_transcript(secret: SecretKey, transcript: Transcript, created_at: int) -> Event:
    """The transcript as an event."""
    return sign_event(
        secret, created_at=created_at, kind=KIND, tags=transcript.tags, content=transcript.canonical()
    )


def read_transcript(source: str | bytes | Mapping[str, Any]) -> tuple[Event, Transcript]:
    """The event in JSON text or a mapping, and the transcript in it; nothing of either is believed yet.

    Raises:
        InvalidTranscript: it is no event of this kind, too long, or its content is no transcript.
    """
    if isinstance(source, str | bytes) and len(source) > MAX_TEXT:
        raise InvalidTranscript(f"it is {len(source)} long: a transcript has at most {MAX_TEXT} characters")
    try:
        event = parse_event(source)
    except InvalidEvent as error:
        raise InvalidTranscript(f"it is no Nostr event: {error}") from None
    if event.kind != KIND:
        raise InvalidTranscript(f"the event is of kind {event.kind}: a transcript is of kind {KIND}")
    return event, parse_transcript(event.content)


def parse_transcript(content: str) -> Transcript:
    """The transcript in the content of its event.

    Raises:
        InvalidTranscript: the content is not what `Transcript.canonical` writes.
    """
    if len(content) > MAX_CONTENT:
        raise InvalidTranscript(f"the content has {len(content)} characters: at most {MAX_CONTENT} are read")
    try:
        fields = json_text.parse(content)
    except json_text.InvalidJson as error:
        raise InvalidTranscript(f"the content is no JSON: {error}") from None
    if not isinstance(fields, dict):
        raise InvalidTranscript("the content is not a JSON object")
    if odd := sorted(map(shown, _FIELDS ^ fields.keys())):
        raise InvalidTranscript(f"these fields are missing or not known: {', '.join(odd[:5])}")
    if type(fields["v"]) is not int or fields["v"] != VERSION:
        raise InvalidTranscript(f"v is {shown(fields['v'])}: only version {VERSION} is known")
    if fields["variant"] != VARIANT:
        raise InvalidTranscript(f"variant is {shown(fields['variant'])}: it must be {VARIANT}")
    transcript = Transcript(
        terms=_terms(fields),
        commitment=_text(fields, "commitment"),
        commitment_event=_event(fields, "commitment_event"),
        secrets=Secrets(_seed(fields, "server_seed"), _seed(fields, "salt")),
        client_seed=_seed(fields, "client_seed"),
        statement=_event(fields, "statement"),
        plays=_plays(fields["plays"]),
        points=_points(fields["points"]),
        forfeit=_forfeit(fields["forfeit"]),
        score_event=None if fields["score_event"] is None else _event(fields, "score_event"),
    )
    if transcript.canonical() != content:
        raise InvalidTranscript(
            "the content is not in the canonical form of RFC 8785, or holds more than it may"
        )
    return transcript


def _terms(fields: dict[str, Any]) -> Terms:
    try:
        return Terms(*(_text(fields, name) for name in ("match", "player", "username", "level")))
    except InvalidTranscript:
        raise
    except ValueError as error:
        raise InvalidTranscript(str(error)) from None


def _text(fields: dict[str, Any], name: str) -> str:
    value = fields[name]
    if not isinstance(value, str):
        raise InvalidTranscript(f"{name} is {shown(value)}: it must be a text")
    return value


def _seed(fields: dict[str, Any], name: str) -> bytes:
    text = _text(fields, name)
    try:
        seed = bytes.fromhex(text)
    except ValueError:
        seed = b""
    if len(text) != _SEED_DIGITS or seed.hex() != text:
        raise InvalidTranscript(f"{name} is not {_SEED_DIGITS} lower-case hex digits")
    return seed


def _event(fields: dict[str, Any], name: str) -> Event:
    value = fields[name]
    if not isinstance(value, dict):
        raise InvalidTranscript(f"{name} is {shown(value)}: it must be an event")
    try:
        return parse_event(value)
    except InvalidEvent as error:
        raise InvalidTranscript(f"{name}: {error}") from None


def _plays(value: object) -> tuple[Ply, ...]:
    if not isinstance(value, list) or len(value) > PLIES:
        raise InvalidTranscript(f"plays is no list of at most {PLIES}")
    plays = []
    for number, play in enumerate(value, 1):
        match play:
            case [("player" | "computer") as side, card]:
                try:
                    plays.append(Ply(Side(side), parse_card(card)))
                except MalformedCard as error:
                    raise InvalidTranscript(f"ply {number}: {error}") from None
            case _:
                raise InvalidTranscript(f'ply {number} is not like ["player", "B1"]')
    return tuple(plays)


def _points(value: object) -> Points:
    if isinstance(value, dict) and value.keys() == set(Points._fields):
        points = Points(**value)
        if all(type(taken) is int for taken in points):  # True is an int to Python, and no number to JSON
            return points
    raise InvalidTranscript('points is not like {"player": 72, "computer": 48}')


def _forfeit(value: object) -> Forfeit | None:
    if value is None:
        return None
    if isinstance(value, str) and value in tuple(Forfeit):
        return Forfeit(value)
    raise InvalidTranscript(f"forfeit is {shown(value)}: it must be null, {' or '.join(Forfeit)}")
