"""What a player may claim: a username and a score of one match (seed 000)."""

from __future__ import annotations

from dataclasses import dataclass

from app.scores.score_event import MAX_SCORE
from app.scores.username import check_username

MIN_SCORE = 0


class InvalidScore(ValueError):
    """A score that no match can end with; the message says why."""


def check_score(score: int) -> int:
    """Return `score` if a match can end with it: a whole number of card points, 0 to 120.

    Raises:
        InvalidScore: otherwise.
    """
    if isinstance(score, bool) or not isinstance(score, int):
        raise InvalidScore("is no whole number")
    if not MIN_SCORE <= score <= MAX_SCORE:
        raise InvalidScore(f"is out of range: give {MIN_SCORE} to {MAX_SCORE}")
    return score


@dataclass(frozen=True, slots=True)
class Claim:
    """A score somebody says they made.

    Raises:
        InvalidUsername: if the name may not be published.
        InvalidScore: if the score is out of range.
    """

    username: str
    score: int

    def __post_init__(self) -> None:
        check_username(self.username)
        check_score(self.score)
