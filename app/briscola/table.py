"""The play of one deal among any number of seats: tricks, and draws while a stock is left.

Seats play in turn from the leader, any card they like; the taker of a trick draws first, then the others in
seat order, and leads the next one (seed 003).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.briscola import trick
from app.briscola.cards import Card, Suit
from app.briscola.errors import CardNotInHand

if TYPE_CHECKING:
    from collections.abc import Sequence

Hands = tuple[tuple[Card, ...], ...]


def dealt(deck: Sequence[Card], first: int, seats: int, each: int) -> Hands:
    """The hand of every seat once `each` cards have been dealt one at a time, beginning with seat `first`."""
    cards = tuple(deck[: seats * each])
    return tuple(cards[(seat - first) % seats :: seats] for seat in range(seats))


@dataclass(frozen=True, slots=True)
class Table:
    """Hands, stock and the trick being played.

    Attributes:
        trump: the suit of briscola.
        stock: what is left to draw, in order; a whole number of rounds.
        hands: the cards of each seat, in the order they came.
        leader: the seat that led, or is to lead, the trick.
        cards: the trick so far, in the order played; never full.
        points: card points each seat has taken.
    """

    trump: Suit
    stock: tuple[Card, ...]
    hands: Hands
    leader: int
    cards: tuple[Card, ...]
    points: tuple[int, ...]

    @classmethod
    def open(cls, trump: Suit, stock: tuple[Card, ...], hands: Hands, leader: int) -> Table:
        """No card is played yet."""
        return cls(trump, stock, hands, leader, (), (0,) * len(hands))

    @property
    def to_move(self) -> int | None:
        """The seat to play, None once every card is played."""
        seat = (self.leader + len(self.cards)) % len(self.hands)
        return seat if self.hands[seat] else None

    def play(self, seat: int, card: Card) -> Table:
        """The table after `seat`, whose turn it is, has played `card`.

        Raises:
            CardNotInHand: it holds no such card.
        """
        hand = self.hands[seat]
        if card not in hand:
            raise CardNotInHand(f"{card} is not in the hand of seat {seat}")
        at = hand.index(card)
        hands = (*self.hands[:seat], hand[:at] + hand[at + 1 :], *self.hands[seat + 1 :])
        cards = (*self.cards, card)
        if len(cards) < len(hands):
            return Table(self.trump, self.stock, hands, self.leader, cards, self.points)
        return self._settled(hands, cards)

    def _settled(self, hands: Hands, cards: tuple[Card, ...]) -> Table:
        seats, stock = len(hands), self.stock
        taker = (self.leader + trick.winner(cards, self.trump)) % seats
        points = list(self.points)
        points[taker] += trick.points(cards)
        if stock:
            hands = tuple([(*hand, stock[(seat - taker) % seats]) for seat, hand in enumerate(hands)])
        return Table(self.trump, stock[seats:], hands, taker, (), tuple(points))
