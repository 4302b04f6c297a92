"""The computer player against every worked example and position of the vectors."""

from itertools import product

import pytest

from app.briscola.action import PLAYS
from app.briscola.cards import DECK, Card, Suit, parse_card
from app.briscola.errors import NotYourTurn
from app.briscola.opponent import Level, choose, choose_card, throwaway_weight, winner_weight
from app.briscola.two_player import TwoPlayer
from tests.vectors import load

VECTORS = load("opponent.json")
SUITS = {suit.letter: suit for suit in Suit}


def chosen(level: Level, case: dict) -> str:
    hand = [parse_card(card) for card in case["hand"]]
    led = parse_card(case["led"]) if case["led"] else None
    return str(choose_card(level, hand, led, SUITS[case["briscola"]], case["stock"]))


def expected(level: Level, case: dict) -> str:
    # Equal weights: the first in hand order, the last where the largest is wanted.
    allowed = [card for card in case["hand"] if card in case[level]]
    return allowed[-1] if case[f"{level}_branch"] == "lead-largest" else allowed[0]


@pytest.mark.parametrize("level", Level)
@pytest.mark.parametrize("case", VECTORS["named"], ids=lambda case: case["name"])
def test_worked_examples(case, level):
    assert chosen(level, case) == expected(level, case)


@pytest.mark.parametrize("level", Level)
def test_positions(level):
    assert len(VECTORS["positions"]) == 1600
    wrong = [case for case in VECTORS["positions"] if chosen(level, case) != expected(level, case)]
    assert wrong == []


def test_equal_weights_are_settled_by_hand_order():
    # Two plain sevens, in both orders: the choice follows the hand, not the suit.
    for hand, card in ((["S7", "B7", "D2"], "S7"), (["B7", "S7", "D2"], "B7")):
        assert chosen(Level.SHARP, {"hand": hand, "led": "C2", "briscola": "D", "stock": 20}) == card
    # Two plain aces led from an empty stock: the last.
    for hand, card in ((["S1", "C2", "B1"], "B1"), (["B1", "C2", "S1"], "S1")):
        assert chosen(Level.SHARP, {"hand": hand, "led": None, "briscola": "D", "stock": 0}) == card


def test_weights():
    for card, trump in product(DECK, Suit):
        weights = VECTORS["weights_by_rank"][str(card.rank.number)]
        kind = "trump" if card.suit is trump else "plain"
        assert throwaway_weight(card, trump) == weights[f"discard_{kind}_tenths"]
        assert winner_weight(card, trump) == weights[f"winner_{kind}"]


def test_bars():
    # The vectors write Gentle's missing test as null; a bar of 0 is passed by every card.
    assert {level: level.bar for level in Level} == {
        level: bar or 0 for level, bar in VECTORS["bars"].items()
    }


@pytest.mark.parametrize("level", Level)
def test_chooses_from_an_observation(level):
    # two-0001: B5 D6 C8 against C4 C2 B10, briscola spade.
    hand = load("briscola_two.json")["hands"][0]
    state = TwoPlayer.start([parse_card(card) for card in hand["deck"]], hand["leader"])
    assert choose(level, state.observation(0)) == PLAYS[Card.B5]
    led = state.apply(PLAYS[Card.C8])
    # Nothing in C4 C2 B10 beats the fante di coppe: the two goes.
    assert choose(level, led.observation(1)) == PLAYS[Card.C2]


def test_refuses_what_it_does_not_play():
    state = TwoPlayer.start(DECK)
    with pytest.raises(NotYourTurn, match="seat 1 is not to move a card"):
        choose(Level.SHARP, state.observation(1))
