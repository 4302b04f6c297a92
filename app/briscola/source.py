"""Where a match's chance comes from."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Protocol

from app.briscola.cards import DECK, Card
from app.briscola.shuffle import RandomSource

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.briscola.action import Action


class Source(Protocol):
    """Answers by the number of the deal alone, 0 for the first, so that a match can be resumed."""

    def deck(self, deal: int) -> Sequence[Card]:
        """The deck of that deal."""

    def choose(self, deal: int, options: Sequence[Action]) -> Action:
        """One of `options`, for a seat that is absent when that deal asks it for a choice."""


@dataclass(frozen=True, slots=True)
class SeededSource:
    """Everything from one seed of 32 bytes, which no text of it shows."""

    seed: bytes

    def __repr__(self) -> str:
        return "SeededSource()"

    def deck(self, deal: int) -> tuple[Card, ...]:
        """Shuffled by the stream of purpose `deck N`."""
        return RandomSource(self.seed, b"deck %d" % deal).shuffled(DECK)

    def choose(self, deal: int, options: Sequence[Action]) -> Action:
        """Drawn from the stream of purpose `choice N`."""
        return RandomSource(self.seed, b"choice %d" % deal).choice(options)
