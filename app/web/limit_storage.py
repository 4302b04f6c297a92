"""Counters of the `limits` library in this process's memory, at a cost that does not grow with their number.

The library's own memory storage walks all its counters with every call, so calls from many addresses would
slow each other down.
"""

from __future__ import annotations

import time
from itertools import islice
from typing import TYPE_CHECKING

from limits.aio.storage import Storage

if TYPE_CHECKING:
    from collections.abc import Callable

# About 40 MB. Past it the counters that began first are forgotten.
_MAX_COUNTERS = 200_000


class LocalStorage(Storage):
    """Counters that each run out a set time after they began.

    Args:
        clock: seconds that never step back.
        capacity: the most counters that are kept.
    """

    STORAGE_SCHEME = None

    def __init__(self, clock: Callable[[], float] = time.monotonic, *, capacity: int = _MAX_COUNTERS) -> None:
        super().__init__()
        self._clock = clock
        self._capacity = capacity
        self._counters: dict[str, tuple[int, float]] = {}  # count and end, in the order in which they began

    def __len__(self) -> int:
        """How many counters are kept, run out or not."""
        return len(self._counters)

    @property
    def base_exceptions(self) -> tuple[type[Exception], ...]:
        """What this storage raises: nothing."""
        return ()

    async def incr(self, key: str, expiry: int, amount: int = 1) -> int:
        """Count `amount` more; a counter that begins runs out after `expiry` seconds."""
        now = self._clock()
        count, end = self._counters.get(key, (0, 0.0))
        if end <= now:
            count, end = 0, now + expiry
            self._make_room(key, now)
        self._counters[key] = (count + amount, end)
        return count + amount

    def _make_room(self, key: str, now: float) -> None:
        self._counters.pop(key, None)
        # Two may go for one that comes, so what has run out never piles up.
        for oldest in list(islice(self._counters, 2)):
            if self._counters[oldest][1] <= now or len(self._counters) >= self._capacity:
                del self._counters[oldest]

    async def get(self, key: str) -> int:
        """What was counted."""
        count, end = self._counters.get(key, (0, 0.0))
        return count if end > self._clock() else 0

    async def get_expiry(self, key: str) -> float:
        """Unix seconds at which a counter runs out."""
        now = self._clock()
        return time.time() + max(0.0, self._counters.get(key, (0, now))[1] - now)

    async def check(self) -> bool:
        """Memory is always there."""
        return True

    async def reset(self) -> int:
        """Forget every counter, and say how many there were."""
        count = len(self._counters)
        self._counters.clear()
        return count

    async def clear(self, key: str) -> None:
        """Forget one counter."""
        self._counters.pop(key, None)
