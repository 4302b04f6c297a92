"""One trick: who takes it and what it is worth."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.briscola.cards import DECK, Card, Suit

if TYPE_CHECKING:
    from collections.abc import Sequence


def _power(card: Card, trump: Suit, led: Suit) -> int:
    if card.suit is trump:
        return 20 + card.rank
    return 10 + card.rank if card.suit is led else 0


POWER: tuple[tuple[tuple[int, ...], ...], ...] = tuple(
    tuple(tuple(_power(card, trump, led) for card in DECK) for led in Suit) for trump in Suit
)
"""`POWER[trump][led suit][card]`: the card's power in that trick; the highest takes it."""


def winner(cards: Sequence[Card], trump: Suit) -> int:
    """Position (0 = the leader's card) of the card that takes the trick.

    The highest trump, or without one the highest card of the suit led. `cards` holds one card at least,
    in the order they were played.
    """
    return cards.index(max(cards, key=POWER[trump][cards[0].suit].__getitem__))


def points(cards: Sequence[Card]) -> int:
    """Card points in `cards`; the whole deck holds 120."""
    return sum([card.points for card in cards])
