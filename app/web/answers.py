"""What clients get, as types: the endpoints are held to them, and `/openapi.json` is made of them."""

from typing import Any, Literal, NotRequired

from pydantic import ConfigDict, with_config

# pydantic reads the standard library's TypedDict only from Python 3.12 on.
from typing_extensions import TypedDict

from app.publisher import ScoreState
from app.store.scores import RelayState
from app.verifier import Check

_STRICT = with_config(ConfigDict(extra="forbid"))


@_STRICT
class FaultDocument(TypedDict):
    """One faulty field of a body."""

    field: str
    message: str


@_STRICT
class ProblemDocument(TypedDict):
    """What went wrong and what to do about it (RFC 9457)."""

    type: str
    title: str
    status: int
    detail: str
    errors: NotRequired[list[FaultDocument]]
    deleted_at: NotRequired[int]


@_STRICT
class EventDocument(TypedDict):
    """A Nostr event (NIP-01)."""

    id: str
    pubkey: str
    created_at: int
    kind: int
    tags: list[list[str]]
    content: str
    sig: str


@_STRICT
class ScoreDocument(TypedDict):
    """A signed score, or a deletion, and how it stands at each relay."""

    event: EventDocument
    address: str
    state: ScoreState
    relays: list[RelayState]
    deleted_at: NotRequired[int]


@_STRICT
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


@_STRICT
class VerificationDocument(TypedDict):
    """A verdict on each event, in order, and what to know of the keys they were held to."""

    verdicts: list[VerdictDocument]
    warnings: list[str]


@_STRICT
class EntryDocument(TypedDict):
    """A row of the board."""

    rank: int
    username: str
    score: int
    created_at: int
    event_id: str
    event: EventDocument
    proof: None


@_STRICT
class RelayReadingDocument(TypedDict):
    """How far a relay has been read."""

    url: str
    state: str
    reason: str
    complete: bool


@_STRICT
class BoardDocument(TypedDict):
    """A part of the board; `next` is the cursor of the rows behind it."""

    entries: list[EntryDocument]
    complete: bool
    relays: list[RelayReadingDocument]
    next: str | None


@_STRICT
class IdentityDocument(TypedDict):
    """Keys by name, and relays by key (NIP-05)."""

    names: dict[str, str]
    relays: dict[str, list[str]]


@_STRICT
class AliveDocument(TypedDict):
    """The process answers."""

    status: Literal["ok"]


@_STRICT
class RelayDocument(TypedDict):
    """How the connection to a relay stands."""

    url: str
    connected: bool
    last_message: str | None
    last_error: str | None
    concerns: list[str]


@_STRICT
class ReadinessDocument(TypedDict):
    """Whether a score posted now would be signed and stored: each check is `ok`, or says what is wrong."""

    status: Literal["ok", "unavailable"]
    checks: dict[str, str]
    relays: list[RelayDocument]


@_STRICT
class ExampleDocument(TypedDict):
    """Tags and content of a score event."""

    tags: list[list[str]]
    content: str


@_STRICT
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
