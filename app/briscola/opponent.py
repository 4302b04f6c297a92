"""Gentle, Normal and Sharp: the computer player of the first half of seed 002, in whole numbers.

It looks at four things only: its hand, the card led, the suit of briscola and the size of the stock. It
gives every card a weight and plays from an end of that list; it counts nothing and looks ahead at nothing.
Of equal weights the first in hand order is taken, the last where the largest is wanted.
"""

from __future__ import annotations

from enum import StrEnum
from typing import TYPE_CHECKING

from app.briscola.action import PLAYS, Play
from app.briscola.errors import NotYourTurn
from app.briscola.trick import POWER, winner

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.briscola.cards import Card, Suit
    from app.briscola.observation import Observation


class Level(StrEnum):
    """The three settings."""

    GENTLE = "gentle"
    NORMAL = "normal"
    SHARP = "sharp"

    @property
    def bar(self) -> int:
        """What a led plain card must be worth before a trump is spent on it; Gentle asks for nothing."""
        return {Level.GENTLE: 0, Level.NORMAL: 10, Level.SHARP: 4}[self]


def throwaway_weight(card: Card, trump: Suit) -> int:
    """Tenths: points, the place in the rank order as tenths, 50 more for a trump. The lowest goes first."""
    return 10 * card.points + card.rank + (500 if card.suit is trump else 0)


def winner_weight(card: Card, trump: Suit) -> int:
    """Points, the place in the rank order in full, 50 more for a trump. The cheapest winner is played."""
    return card.points + card.rank + (50 if card.suit is trump else 0)


def choose_lead(level: Level, hand: Sequence[Card], trump: Suit, stock_left: int) -> Card:
    """The smallest card of the throwaway list; for Sharp the largest, once the stock is empty."""
    if level is Level.SHARP and stock_left == 0:
        return max(reversed(hand), key=lambda card: throwaway_weight(card, trump))
    return min(hand, key=lambda card: throwaway_weight(card, trump))


def choose_reply(level: Level, hand: Sequence[Card], trump: Suit, led: Card) -> Card:
    """The cheapest winner, unless that spends a trump on a plain card under the bar; else a throwaway."""
    power = POWER[trump][led.suit]
    winners = [card for card in hand if power[card] > power[led]]
    if winners:
        cheapest = min(winners, key=lambda card: winner_weight(card, trump))
        spends_trump = cheapest.suit is trump and led.suit is not trump
        if not spends_trump or led.points >= level.bar:
            return cheapest
    return min(hand, key=lambda card: throwaway_weight(card, trump))


def choose_card(level: Level, hand: Sequence[Card], led: Card | None, trump: Suit, stock_left: int) -> Card:
    """The card this level plays from `hand`: a lead when `led` is None, else a reply to it."""
    if led is None:
        return choose_lead(level, hand, trump, stock_left)
    return choose_reply(level, hand, trump, led)


def choose(level: Level, observation: Observation) -> Play:
    """The play of this level where `observation.seat` is to move and briscola is known.

    At a table of more than two the card to beat takes the place of the card led.

    Raises:
        NotYourTurn: another seat is to move, or there is no card to play.
    """
    public = observation.public
    if public.to_move != observation.seat or public.trump is None or not observation.hand:
        raise NotYourTurn(f"seat {observation.seat} is not to move a card")
    to_beat = public.table[winner(public.table, public.trump)] if public.table else None
    return PLAYS[choose_card(level, observation.hand, to_beat, public.trump, public.stock_left)]
