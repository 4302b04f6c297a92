"""Keyed items kept sorted, but only when somebody looks: loading a hundred thousand sorts them once."""

from __future__ import annotations

from typing import Any

from sortedcontainers import SortedList

Key = tuple[Any, ...]


class Ordered:
    """Distinct sort keys, each with an id; putting one in or taking one out costs O(log n)."""

    def __init__(self) -> None:
        self._sorted: SortedList[Key] = SortedList()
        self._waiting: dict[str, Key] = {}

    def __len__(self) -> int:
        return len(self._sorted) + len(self._waiting)

    @property
    def keys(self) -> SortedList[Key]:
        """All keys in order, to be read only."""
        if self._waiting:
            self._sorted.update(self._waiting.values())
            self._waiting.clear()
        return self._sorted

    def add(self, name: str, key: Key) -> None:
        """Put in a key under an id that is not there yet."""
        self._waiting[name] = key

    def remove(self, name: str, key: Key) -> None:
        """Take out a key that is there."""
        if self._waiting.pop(name, None) is None:
            self._sorted.remove(key)
