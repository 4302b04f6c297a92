"""What clients get, as types: the endpoints are held to them, and `/openapi.json` is made of them."""

from typing import Any, Literal, NotRequired

from pydantic import ConfigDict, with_config

# pydantic reads the standard library's TypedDict only from Python 3.12 on.
from typing_extensions import TypedDict

from app.matches.transcript import Forfeit
from app.publisher import ScoreState
from app.store.matches import Proof, Tally
from app.store.scores import RelayState
from app.verifier import Check

STRICT = with_config(ConfigDict(extra="forbid"))


@STRICT
class FaultDocument(TypedDict):
    """One faulty field of a body."""

    field: str
    message: str


@STRICT
class ProblemDocument(TypedDict):
    """What went wrong and what to do about it (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    errors: NotRequired[list[FaultDocument]]
    deleted_at: NotRequired[int]
    match: NotRequired[str]
    matches: NotRequired[Tally]


@STRICT
class EventDocument(TypedDict):
    """A Nostr event (NIP-01)."""

    id: str
    pubkey: str
    created_at: int
    kind: int
    tags: list[list[str]]
    content: str
    sig: str


@STRICT
class ScoreDocument(TypedDict):
    """A signed score, or a deletion, and how it stands at each relay.

    `proof` names the match that the score was played in; it is null for a score that is only claimed.
    """

    event: EventDocument
    address: str
    state: ScoreState
    relays: list[RelayState]
    proof: Proof | None
    deleted_at: NotRequired[int]


@STRICT
class PlayerDocument(ScoreDocument):
    """A player's latest score, and how many matches of the name were dealt, finished and forfeited."""

    matches: Tally


@STRICT
class VerdictDocument(TypedDict):
    """What the five checks found on one event, and whether it agrees with itself."""

    index: int
    id: str | None
    ok: bool
    failed: Check | None
    consistent: bool
    reasons: list[str]
    username: str | None
    score: int | None


@STRICT
class PointsDocument(TypedDict):
    """Card points taken by each side."""

    player: int
    computer: int


@STRICT
class TranscriptVerdictDocument(TypedDict):
    """What the replay of a match found; `proved` and `not_proved` are sentences."""

    id: str | None
    ok: bool
    reasons: list[str]
    false_ply: int | None
    match: str | None
    player: str | None
    username: str | None
    level: str | None
    points: PointsDocument | None
    forfeit: Forfeit | None
    score_event: str | None
    choices_checked: bool
    proved: list[str]
    not_proved: list[str]


@STRICT
class VerificationDocument(TypedDict):
    """A verdict on each event, in order, and what to know of the keys they were held to.

    Where a transcript was sent there is one verdict on it instead.
    """

    verdicts: list[VerdictDocument]
    transcript: NotRequired[TranscriptVerdictDocument]
    warnings: list[str]


@STRICT
class EntryProofDocument(TypedDict):
    """The match that a row was played in, against which level, and the event that holds its transcript."""

    match: str
    level: str
    transcript: str


@STRICT
class EntryDocument(TypedDict):
    """A row of the board; `proof` is null for a score that is only claimed."""

    rank: int
    username: str
    score: int
    created_at: int
    event_id: str
    event: EventDocument
    proof: EntryProofDocument | None


@STRICT
class RelayReadingDocument(TypedDict):
    """How far a relay has been read."""

    url: str
    state: str
    reason: str
    complete: bool


@STRICT
class BoardDocument(TypedDict):
    """A part of the board; `next` is the cursor of the rows behind it."""

    entries: list[EntryDocument]
    complete: bool
    relays: list[RelayReadingDocument]
    next: str | None


@STRICT
class IdentityDocument(TypedDict):
    """Keys by name, and relays by key (NIP-05)."""

    names: dict[str, str]
    relays: dict[str, list[str]]


@STRICT
class AliveDocument(TypedDict):
    """The process answers."""

    status: Literal["ok"]


@STRICT
class RelayDocument(TypedDict):
    """How the connection to a relay stands."""

    url: str
    connected: bool
    last_message: str | None
    last_error: str | None
    concerns: list[str]


@STRICT
class ReadinessDocument(TypedDict):
    """Whether a score posted now would be signed and stored: each check is `ok`, or says what is wrong."""

    status: Literal["ok", "unavailable"]
    checks: dict[str, str]
    relays: list[RelayDocument]


@STRICT
class ExampleDocument(TypedDict):
    """Tags and content of a score event."""

    tags: list[list[str]]
    content: str


@STRICT
class ProtocolDocument(TypedDict):
    """What a reader must know to find and check scores; a mirror does not know the policy."""

    kind: int
    nips: list[int]
    app_tag: str
    pubkey: str
    npub: str
    public_keys: list[str]
    relays: list[str]
    policy: Literal["latest", "best"] | None
    example: ExampleDocument
    checks: list[str]
    filter: dict[str, Any]
    documented_filter: dict[str, Any]
    warnings: list[str]
