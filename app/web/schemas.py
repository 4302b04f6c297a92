"""What clients send, checked strictly."""

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import AfterValidator, BaseModel, ConfigDict, Field, WithJsonSchema

from app.briscola.cards import Card, parse_card
from app.briscola.computer import LEVELS
from app.matches.match import PLIES
from app.matches.opening import KIND as OPENING
from app.scores.score import MIN_SCORE, Claim
from app.scores.score_event import MAX_SCORE
from app.scores.username import MAX_LENGTH, check_username

_TEXT = {"type": "string"}
_STATEMENT = {
    "type": "object",
    "properties": {
        "id": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
        "pubkey": {"type": "string", "pattern": "^[0-9a-f]{64}$"},
        "created_at": {"type": "integer", "minimum": 0, "maximum": 2**53 - 1},
        "kind": {"const": OPENING},
        "tags": {"type": "array", "items": {"type": "array", "items": _TEXT, "minItems": 1}},
        "content": {"const": ""},
        "sig": {"type": "string", "pattern": "^[0-9a-f]{128}$"},
    },
    "required": ["id", "pubkey", "created_at", "kind", "tags", "content", "sig"],
}
_Username = Annotated[
    str,
    AfterValidator(check_username),
    Field(
        description="1 to 32 letters, marks, digits, '_', '-' or '.', in NFKC form and of one script; "
        "neither '.' nor '..'.",
        json_schema_extra={"minLength": 1, "maxLength": MAX_LENGTH, "format": "briscola-username"},
    ),
]


class _Body(BaseModel):
    """Nothing is turned into what it is not, and nothing more may be there."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, hide_input_in_errors=True)


class ScoreBody(_Body):
    """The body of POST /v1/scores."""

    username: _Username
    score: Annotated[
        int,
        Field(ge=MIN_SCORE, le=MAX_SCORE, description="Card points, written without fraction or exponent."),
    ]

    def claim(self) -> Claim:
        """The claim that the body makes."""
        return Claim(self.username, self.score)


def _check_level(level: str) -> str:
    if level not in LEVELS:
        raise ValueError(f"is none: give one of {', '.join(LEVELS)}")
    return level


class MatchBody(_Body):
    """The body of POST /v1/matches."""

    username: _Username
    level: Annotated[str, AfterValidator(_check_level), Field(json_schema_extra={"enum": list(LEVELS)})]
    variant: Literal["two-player"] = "two-player"
    player: Annotated[
        str | None,
        Field(
            pattern=r"^[0-9a-f]{64}$",
            description="The public key that will sign for the player, hex. Who signs in with a Nostr key "
            "may leave it out, because it is that one; others make a key for it.",
        ),
    ] = None


class DealBody(_Body):
    """The body of POST /v1/matches/{match_id}/deal."""

    client_seed: Annotated[
        str, Field(pattern=r"^[0-9a-f]{64}$", description="The player's 32 random bytes, hex.")
    ]
    statement: Annotated[
        dict[str, Any],
        WithJsonSchema(_STATEMENT),
        Field(description="The player's signed event of kind 78 over match, commitment and client seed."),
    ]


class PlayBody(_Body):
    """The body of POST /v1/matches/{match_id}/plays."""

    card: Annotated[
        str,
        Field(
            description="B, C, D or S and a number from 1 to 10.",
            json_schema_extra={"pattern": "^[BCDS]([1-9]|10)$"},
        ),
    ]
    ply: Annotated[int, Field(ge=1, le=PLIES, description="Which play of the hand it is, counted from 1.")]

    def play(self) -> tuple[int, Card]:
        """Ply and card.

        Raises:
            MalformedCard: there is no such card.
        """
        return self.ply, parse_card(self.card)
