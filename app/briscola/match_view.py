"""What one seat may know of a match."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from app.briscola.action import Action
    from app.briscola.observation import Json, Observation
    from app.briscola.summary import DealSummary


class Phase(StrEnum):
    """What a match waits for."""

    PLAY = "play"
    """The seat to move of the deal."""
    ACKNOWLEDGE = "acknowledge"
    """The seats that have not yet acknowledged the deal that is over."""
    OVER = "over"
    """Nothing more."""


@dataclass(frozen=True, slots=True)
class MatchObservation:
    """The match as everybody sees it, and of the deal what `deal.seat` may know.

    Attributes:
        phase: what the match waits for.
        target_score: what it is played to; of a chiamata 61, which its auction may raise (see the deal).
        dealer: the seat that dealt the deal under way or just over.
        scores: the points of both sides that count so far.
        waiting_for: the seats that have something to do.
        deadline: the clock reading from which absent players are acted for, None for never.
        winner: the side that has won, None while neither has.
        summaries: the deals that are over.
        deal: the deal under way or just over.
        legal_actions: what the seat may do now.
    """

    phase: Phase
    target_score: int
    dealer: int
    scores: tuple[int, int]
    waiting_for: tuple[int, ...]
    deadline: float | None
    winner: int | None
    summaries: tuple[DealSummary, ...]
    deal: Observation
    legal_actions: tuple[Action, ...]

    def to_json(self) -> dict[str, Json]:
        """Every field by name, the deal and its summaries as their own `to_json` writes them."""
        return {
            "phase": self.phase.value,
            "target_score": self.target_score,
            "dealer": self.dealer,
            "scores": list(self.scores),
            "waiting_for": list(self.waiting_for),
            "deadline": self.deadline,
            "winner": self.winner,
            "summaries": [summary.to_json() for summary in self.summaries],
            "deal": self.deal.to_json(),
            "legal_actions": [str(action) for action in self.legal_actions],
        }
