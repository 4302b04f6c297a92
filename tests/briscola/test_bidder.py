"""Bids and calls of the computer."""

import pytest

from app.briscola.action import PLAYS, Bid, Call, Pass, Raise
from app.briscola.bidder import bid_or_call
from app.briscola.cards import DECK, Rank, parse_card
from app.briscola.chiamata import Chiamata


def dealt(hand: str) -> Chiamata:
    """A chiamata in which seat 0, the first to bid, holds `hand`."""
    mine = [parse_card(card) for card in hand.split()]
    others = iter([card for card in DECK if card not in mine])
    return Chiamata.start([mine.pop(0) if place % 5 == 0 else next(others) for place in range(40)])


def after(hand: str, *actions) -> Chiamata:
    state = dealt(hand)
    for action in actions:
        state = state.apply(action)
    return state


ACE_AND_THREE = "C1 C3 C9 C7 B2 B4 D5 S6"
SHORT = "C1 C3 C9 B2 B4 D5 D6 S6"
ROUND = (Pass(), Pass(), Pass(), Pass())


@pytest.mark.parametrize(
    ("hand", "actions", "bid"),
    [
        (ACE_AND_THREE, (), Bid(Rank.KING)),  # the strongest coppa it misses
        (SHORT, (), Pass()),  # three of a suit are too few
        ("C1 C3 C10 C9 B2 B4 D5 S6", (), Bid(Rank.JACK)),
        # The others have passed or gone below what it wants.
        (ACE_AND_THREE, (Bid(Rank.ACE), *map(Bid, (Rank.THREE, Rank.KING)), Pass(), Pass()), Pass()),
    ],
)
def test_bids(hand, actions, bid):
    assert bid_or_call(after(hand, *actions).observation(0)) == bid


def test_the_last_one_standing_bids_what_it_wants():
    state = dealt(SHORT)
    while len(state.auction.active) > 1:
        state = state.apply(Pass())
    bid = bid_or_call(state.observation(state.to_move))
    assert isinstance(bid, Bid)
    assert bid in state.legal_actions()


def test_calls_the_card_it_misses_in_its_best_suit():
    state = after(ACE_AND_THREE, Bid(Rank.KING), *ROUND)
    assert bid_or_call(state.observation(0)) == Call(parse_card("C10"))
    # Forced to call an ace, it does not call its own.
    state = after(ACE_AND_THREE, Bid(Rank.ACE), *ROUND)
    assert bid_or_call(state.observation(0)).card not in state.hands[0]


def test_nothing_to_bid():
    state = after(ACE_AND_THREE, Bid(Rank.KING), *ROUND).apply(Call(parse_card("C10")))
    with pytest.raises(ValueError, match="no bid and no call"):
        bid_or_call(state.observation(0))
    assert PLAYS[parse_card("C1")] in state.legal_actions()
    assert Raise(62) not in state.legal_actions()
