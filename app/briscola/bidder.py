"""How the computer bids and calls in chiamata: a plain rule, from an observation only.

It likes the suit that gives it the most cards, then the most points, and bids the strongest rank it misses
there, if it has four cards of the suit at least. It never goes below that rank, nor into points.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.briscola.action import Action, Bid, Call, Pass, Raise
from app.briscola.cards import Rank, Suit, card_of

if TYPE_CHECKING:
    from app.briscola.cards import Card
    from app.briscola.observation import Observation

_LONG_SUIT = 4


def bid_or_call(observation: Observation) -> Action:
    """A bid, a pass or a call, for a seat that is to make one.

    Raises:
        ValueError: there is none to make.
    """
    legal, hand = observation.legal_actions, observation.hand
    calls = [action for action in legal if isinstance(action, Call)]
    if calls:
        return max(calls, key=lambda call: (call.card not in hand, _liking(call.card.suit, hand)))
    if not any(isinstance(action, Bid | Raise | Pass) for action in legal):
        raise ValueError("there is no bid and no call to make")
    suit = max(Suit, key=lambda suit: _liking(suit, hand))
    wanted = Bid(max(rank for rank in Rank if card_of(suit, rank) not in hand))
    long = sum(card.suit is suit for card in hand) >= _LONG_SUIT
    # Whoever cannot pass is the last one standing, and may bid any rank.
    return wanted if wanted in legal and (long or Pass() not in legal) else Pass()


def _liking(suit: Suit, hand: tuple[Card, ...]) -> tuple[int, int]:
    cards = [card for card in hand if card.suit is suit]
    return len(cards), sum(card.points for card in cards)
