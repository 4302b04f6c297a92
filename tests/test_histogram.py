"""A histogram counts each value once, at the first bound that is not below it."""

from __future__ import annotations

from app.histogram import Histogram


def test_bounds_are_inclusive_and_what_lies_above_is_kept() -> None:
    histogram = Histogram((0.5, 1.0, 2.0))
    for value in (0.25, 0.5, 0.75, 2.0, 8.0):
        histogram.observe(value)
    assert histogram.counts == [2, 1, 1, 1]
    assert histogram.total == 11.5
