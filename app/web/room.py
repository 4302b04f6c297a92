"""Room for something that takes long: so many at once, and half of them for one address."""

from __future__ import annotations

from collections import Counter


class Room:
    """Counts who is in.

    Args:
        most: at once; one address holds half of it, so that a flood leaves room for others.
    """

    def __init__(self, most: int) -> None:
        self._most = most
        self._held: Counter[str] = Counter()
        self._total = 0

    def admit(self, address: str, *, shared: bool = False) -> bool:
        """Let somebody in, unless there are too many; many may come from an address that is `shared`."""
        if self._total >= self._most or (2 * self._held[address] >= self._most and not shared):
            return False
        self._held[address] += 1
        self._total += 1
        return True

    def release(self, address: str) -> None:
        """Somebody who was let in has left."""
        self._total -= 1
        self._held[address] -= 1
        if not self._held[address]:
            del self._held[address]
