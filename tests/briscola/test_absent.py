"""Automatic actions, as the handed `timeouts` name them."""

import pytest

from app.briscola.absent import automatic_action
from app.briscola.action import Bid, Call, Pass, Play
from app.briscola.cards import DECK, Card, Rank, parse_card
from app.briscola.chiamata import Chiamata
from app.briscola.two_player import TwoPlayer
from tests.vectors import load


def never(options):
    raise AssertionError("only a call is a matter of chance")


def done_for(state, choose=never):
    action = automatic_action(state.observation(state.to_move), choose)
    assert action in state.legal_actions()
    return action


def test_the_vectors_know_four_cases():
    assert [case["auto"]["action"] for case in load("chiamata.json")["timeouts"]] == [
        "pass",
        "bid",
        "call",
        "play",
    ]


@pytest.mark.parametrize("before", [[], [Bid(Rank.ACE)], [Bid(Rank.TWO)]])
def test_an_absent_bidder_passes(before):
    state = Chiamata.start(DECK)
    for action in before:
        state = state.apply(action)
    assert done_for(state) == Pass()


def test_the_last_one_standing_bids_the_ace():
    state = Chiamata.start(DECK)
    for _ in range(4):
        state = state.apply(Pass())
    assert done_for(state) == Bid(Rank.ACE)


def test_an_absent_winner_calls_a_card_of_the_won_rank_by_chance():
    state = Chiamata.start(DECK).apply(Bid(Rank.SIX))
    for _ in range(4):
        state = state.apply(Pass())
    offered = []

    def last(options):
        offered.extend(options)
        return options[-1]

    assert done_for(state, last) == Call(Card.S6)
    assert offered == [Call(Card.B6), Call(Card.C6), Call(Card.D6), Call(Card.S6)]


@pytest.mark.parametrize(
    ("hand", "trump", "played"),
    [
        # Weights 0.4, 3.6, 50.2: the worked example of seed 002.
        (["S7", "C9", "D5"], "D", "S7"),
        # A two of trumps (50.0) is dearer than a plain ace (11.9).
        (["D2", "S1", "S3"], "D", "S3"),
        # Only trumps: 50.0 < 54.7 < 61.9.
        (["D1", "D10", "D2"], "D", "D2"),
        # Equal weights: the first in hand order.
        (["S4", "C4", "B4"], "D", "S4"),
    ],
)
def test_the_lowest_card_of_the_throwaway_list_is_played(hand, trump, played):
    first = [parse_card(card) for card in hand]
    rest = [card for card in DECK if card not in first]
    others = [card for card in rest if card.suit.letter != trump][:3]
    turned = next(card for card in rest if card.suit.letter == trump)
    dealt = [card for pair in zip(first, others, strict=True) for card in pair]
    deck = [*dealt, turned, *(card for card in rest if card is not turned and card not in others)]
    assert done_for(TwoPlayer.start(deck)) == Play(parse_card(played))
