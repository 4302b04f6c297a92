"""What clients send, checked strictly."""

from __future__ import annotations

from typing import Annotated

from pydantic import AfterValidator, BaseModel, ConfigDict, Field

from app.scores.score import MIN_SCORE, Claim
from app.scores.score_event import MAX_SCORE
from app.scores.username import MAX_LENGTH, check_username


class ScoreBody(BaseModel):
    """The body of POST /v1/scores."""

    model_config = ConfigDict(strict=True, extra="forbid", frozen=True, hide_input_in_errors=True)

    username: Annotated[
        str,
        AfterValidator(check_username),
        Field(
            description="1 to 32 letters, marks, digits, '_', '-' or '.', in NFKC form and of one script; "
            "neither '.' nor '..'.",
            json_schema_extra={"minLength": 1, "maxLength": MAX_LENGTH, "format": "briscola-username"},
        ),
    ]
    score: Annotated[
        int,
        Field(ge=MIN_SCORE, le=MAX_SCORE, description="Card points, written without fraction or exponent."),
    ]

    def claim(self) -> Claim:
        """The claim that the body makes."""
        return Claim(self.username, self.score)
