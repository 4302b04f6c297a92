"""A wall clock that no step ahead hurries, for what somebody would lose if time were up."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

RATE = 2.0
"""How much faster than time passes it may run, until it has caught up."""


class PatientClock:
    """Reads what the wall clock reads, or less: it never gains more than RATE seconds in one that passed.

    So who had an hour left has half an hour at least, whatever the wall clock is set to meanwhile. Time that
    passed before it was made counts as the wall clock has it.

    Args:
        clock: wall clock, unix seconds.
        monotonic: seconds, on a clock that nobody sets.
    """

    def __init__(self, clock: Callable[[], float], monotonic: Callable[[], float]) -> None:
        self._clock = clock
        self._monotonic = monotonic
        self._read, self._at = clock(), monotonic()

    def __call__(self) -> float:
        """Unix seconds."""
        # Two threads that come at once may gain the microseconds between them twice: no lock for that.
        now, at = self._clock(), self._monotonic()
        self._read, self._at = min(now, self._read + RATE * (at - self._at)), at
        return self._read
