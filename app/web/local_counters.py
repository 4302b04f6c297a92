"""Counters of calls in this process's memory, at a cost that does not grow with their number.

The `limits` library's own memory storage walks all its counters with every call, so calls from many addresses
would slow each other down; and every call is counted, so the count itself must be quick.
"""

from __future__ import annotations

import time
from itertools import islice
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from limits import RateLimitItem

# About 40 MB. Past it the counters that began first are forgotten.
_MAX_COUNTERS = 200_000

_Key = tuple[int | str, ...]


class LocalCounters:
    """Counters that each run out a set time after they began (fixed windows, as the shared ones are).

    Args:
        clock: seconds that never step back.
        capacity: the most counters that are kept.
    """

    def __init__(self, clock: Callable[[], float] = time.monotonic, *, capacity: int = _MAX_COUNTERS) -> None:
        self._clock = clock
        self._capacity = capacity
        self._counters: dict[_Key, tuple[int, float]] = {}  # count and end, in the order in which they began

    def __len__(self) -> int:
        """How many counters are kept, run out or not."""
        return len(self._counters)

    def hit(self, rate: RateLimitItem, who: tuple[str, ...]) -> float | None:
        """Count one call; None if it is within the rate, else the seconds until the next one may be."""
        now = self._clock()
        expiry = rate.get_expiry()
        key: _Key = (rate.amount, expiry, *who)
        count, end = self._counters.get(key, (0, 0.0))
        if end <= now:
            count, end = 0, now + expiry
            self._make_room(key, now)
        self._counters[key] = (count + 1, end)
        return None if count < rate.amount else end - now

    def _make_room(self, key: _Key, now: float) -> None:
        self._counters.pop(key, None)
        # Two may go for one that comes, so what has run out never piles up.
        for oldest in list(islice(self._counters, 2)):
            if self._counters[oldest][1] <= now or len(self._counters) >= self._capacity:
                del self._counters[oldest]
