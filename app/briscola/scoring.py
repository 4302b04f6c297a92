"""The score of a match played to a target (seed 003)."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True, slots=True)
class Score:
    """Card points of both sides over the deals that count.

    A side wins when it has reached the target and leads; both past it, the higher total wins, and a tie there
    is broken by another deal.
    """

    target: int
    totals: tuple[int, int] = (0, 0)

    def add(self, points: tuple[int, ...]) -> Score:
        """The score after a deal in which the sides took `points`; a patta (60-60) is discarded."""
        ours, theirs = points
        if ours == theirs:
            return self
        return replace(self, totals=(self.totals[0] + ours, self.totals[1] + theirs))

    @property
    def winner(self) -> int | None:
        """The side that has won, None while neither has."""
        ours, theirs = self.totals
        if ours == theirs or max(ours, theirs) < self.target:
            return None
        return int(theirs > ours)
