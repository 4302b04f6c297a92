"""Items kept sorted, but only when somebody looks: loading a hundred thousand sorts them once."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any, Generic, TypeVar

from sortedcontainers import SortedList

if TYPE_CHECKING:
    from collections.abc import Callable

Key = tuple[Any, ...]
T = TypeVar("T")


class Ordered(Generic[T]):
    """Items with an id each and sort keys that end in it; putting one in or taking one out costs O(log n)."""

    def __init__(self, key: Callable[[T], Key]) -> None:
        self._key = key
        # Keys hold no items: the garbage collector need not look at tuples of numbers and strings.
        self._sorted: SortedList[Key] = SortedList()
        self._items: dict[str, T] = {}
        self._waiting: dict[str, T] = {}

    def __len__(self) -> int:
        return len(self._sorted) + len(self._waiting)

    @property
    def keys(self) -> SortedList[Key]:
        """The keys of all items in order, to be read only."""
        if self._waiting:
            self._sorted.update(map(self._key, self._waiting.values()))
            self._items.update(self._waiting)
            self._waiting.clear()
        return self._sorted

    def __getitem__(self, key: Key) -> T:
        """The item with one of the keys."""
        return self._items[key[-1]]

    def add(self, name: str, item: T) -> None:
        """Put in an item under an id that is not there yet."""
        self._waiting[name] = item

    def remove(self, name: str, item: T) -> None:
        """Take out an item that is there."""
        if self._waiting.pop(name, None) is None:
            self._sorted.remove(self._key(item))
            del self._items[name]
