"""A deck from one 32-byte seed, the same in Python and in the page (`app/web/js/shuffle.js`).

The stream: block i is SHA-256(seed || purpose || i as 4 bytes, big-endian), i = 0, 1, 2 …; each block gives
eight 32-bit words, big-endian, in order. A number below n takes the next word under the largest multiple of n
that fits in 2^32 (higher words are skipped, so no number is likelier than another) and reduces it modulo n.
The shuffle is Fisher-Yates from the top: for i = 39 … 1 swap card i with card j, j a number below i + 1.
"""

from __future__ import annotations

from hashlib import sha256
from struct import Struct
from typing import TYPE_CHECKING, TypeVar

from app.briscola.cards import DECK, Card

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

T = TypeVar("T")

SEED_BYTES = 32
_WORDS = Struct(">8I")
_WORD_RANGE = 1 << 32


class RandomSource:
    """Numbers that follow from a seed alone, so that whatever they decided can be replayed.

    `purpose` keeps independent users of one seed apart.

    Raises:
        ValueError: the seed is not 32 bytes long.
    """

    def __init__(self, seed: bytes, purpose: bytes = b"") -> None:
        if len(seed) != SEED_BYTES:
            raise ValueError(f"a seed has {SEED_BYTES} bytes, not {len(seed)}")
        self._prefix = sha256(seed + purpose)
        self._block = 0
        self._words: list[int] = []

    def word(self) -> int:
        """The next 32-bit word of the stream."""
        if not self._words:
            block = self._prefix.copy()
            block.update(self._block.to_bytes(4, "big"))
            self._block += 1
            self._words = list(reversed(_WORDS.unpack(block.digest())))
        return self._words.pop()

    def randbelow(self, n: int) -> int:
        """A number from 0 to n - 1, each as likely as any other.

        Raises:
            ValueError: n is not from 1 to 2^32.
        """
        if not 1 <= n <= _WORD_RANGE:
            raise ValueError(f"cannot draw below {n}: the bound is 1 to 2^32")
        limit = _WORD_RANGE - _WORD_RANGE % n
        while (word := self.word()) >= limit:
            pass
        return word % n

    def choice(self, items: Sequence[T]) -> T:
        """One of `items`, each as likely as any other.

        Raises:
            ValueError: there are none.
        """
        return items[self.randbelow(len(items))]

    def shuffled(self, items: Iterable[T]) -> tuple[T, ...]:
        """`items` in an order of which each is as likely as any other."""
        order = list(items)
        for i in range(len(order) - 1, 0, -1):
            j = self.randbelow(i + 1)
            order[i], order[j] = order[j], order[i]
        return tuple(order)


def shuffled_deck(seed: bytes) -> tuple[Card, ...]:
    """The deck that follows from `seed`.

    Raises:
        ValueError: the seed is not 32 bytes long.
    """
    return RandomSource(seed).shuffled(DECK)
