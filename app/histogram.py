"""A histogram that costs next to nothing to fill; whoever shows it makes it cumulative."""

from __future__ import annotations

from bisect import bisect_left


class Histogram:
    """How often values fell between bounds.

    Attributes:
        bounds: upper bounds, ascending, each inclusive; above the last one there is no bound.
        counts: one for each bound, and one for what lies above them all.
        total: the sum of all values.
    """

    __slots__ = ("bounds", "counts", "total")

    def __init__(self, bounds: tuple[float, ...]) -> None:
        self.bounds = bounds
        self.counts = [0] * (len(bounds) + 1)
        self.total = 0.0

    def observe(self, value: float) -> None:
        """Count a value."""
        self.counts[bisect_left(self.bounds, value)] += 1
        self.total += value
