"""What clients get of matches: as types, see `answers`, and made of what is stored."""

from typing import Any, Literal, NotRequired

# pydantic reads the standard library's TypedDict only from Python 3.12 on.
from typing_extensions import TypedDict

from app.matches.commitment import VARIANT
from app.matches.match import Match, Side
from app.matches.transcript import Forfeit
from app.store.matches import MatchState, StoredMatch, Unpublished
from app.web.answers import STRICT, EventDocument, PointsDocument


@STRICT
class ObservationDocument(TypedDict):
    """What the player may know of a hand: their own cards, and what lies open. Seat 0 is the player's.

    `actions` are the plays so far, `play B1` each; `legal_actions` those that are open to the player.
    """

    variant: str
    first: int
    to_move: int | None
    trump: str
    face_up: str
    stock_left: int
    leader: int
    table: list[str]
    hand_sizes: list[int]
    points: list[int]
    actions: list[str]
    seat: int
    hand: list[str]
    legal_actions: list[str]


@STRICT
class ResultDocument(TypedDict):
    """How a match ended.

    `score` is the id of the score event (GET /v1/scores/{event_id}), `unpublished` says why there is none,
    and `transcript` is the id of the event that holds the transcript
    (GET /v1/matches/{match_id}/transcript).
    """

    points: PointsDocument
    forfeit: Forfeit | None
    score: str | None
    unpublished: Unpublished | None
    transcript: str | None


@STRICT
class MatchDocument(TypedDict):
    """A match as its player may see it.

    `plays` are pairs of side and card, `next_ply` is the number of the play that is the player's to make;
    `expires_at` (unix seconds) moves on with every play. `token` stands in the answer that opens it alone.
    """

    id: str
    token: NotRequired[str]
    state: MatchState
    username: str
    player: str
    level: str
    variant: Literal["two-player"]
    commitment: str
    commitment_event: EventDocument
    expires_at: int | None
    client_seed: str | None
    next_ply: int | None
    plays: list[tuple[Side, str]]
    observation: ObservationDocument | None
    result: ResultDocument | None


def match_document(match: StoredMatch) -> dict[str, Any]:
    """The match as `MatchDocument` has it, made of what its player may see; without a token."""
    hand, terms = match.hand, match.terms
    is_open = match.state.is_open
    return {
        "id": terms.match,
        "state": match.state,
        "username": terms.username,
        "player": terms.player,
        "level": terms.level,
        "variant": VARIANT,
        "commitment": match.commitment,
        "commitment_event": match.commitment_event.to_dict(),
        "expires_at": int(match.due) if is_open and match.due is not None else None,
        "client_seed": None if match.client_seed is None else match.client_seed.hex(),
        "next_ply": hand.next_ply if hand and is_open and hand.to_move is Side.PLAYER else None,
        "plays": [(ply.side, str(ply.card)) for ply in hand.plays] if hand else [],
        "observation": hand and hand.observation.to_json(),
        "result": None if hand is None or is_open else _result(match, hand),
    }


def _result(match: StoredMatch, hand: Match) -> dict[str, Any]:
    return {
        "points": hand.points._asdict(),
        "forfeit": match.forfeit,
        "score": match.score,
        "unpublished": match.unpublished,
        "transcript": match.transcript,
    }
