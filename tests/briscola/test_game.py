"""Saved states: what is written, and what is refused."""

import pytest

from app.briscola.action import PLAYS
from app.briscola.cards import DECK, Card
from app.briscola.errors import GameOver, MalformedState, NotYourTurn, UnknownSeat
from app.briscola.two_player import TwoPlayer

SAVED = {
    "variant": "two-player",
    "deck": [str(card) for card in DECK],
    "first": 1,
    "actions": ["play B1", "play B4"],
}


def test_saved_form():
    state = TwoPlayer.start(DECK, 1).apply(PLAYS[Card.B1]).apply(PLAYS[Card.B4])
    assert state.to_json() == SAVED
    assert TwoPlayer.from_json(SAVED) == state


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"variant": "scopone"}, "expected the variant two-player, not 'scopone'"),
        ({"extra": 1}, "nothing else"),
        ({"deck": "B1"}, "lists of texts"),
        ({"deck": SAVED["deck"][:39]}, "forty cards"),
        ({"deck": ["B1"] * 40}, "forty cards"),
        ({"deck": [1] * 40}, "deck: no such card: 1; a card is B, C, D or S"),
        ({"deck": ["B11", *SAVED["deck"][1:]]}, "deck: no such card: 'B11'"),
        ({"first": 2}, "no seat 2"),
        ({"first": True}, "no seat True to lead"),
        ({"first": "1"}, "no seat '1' to lead"),
        ({"actions": {}}, "lists of texts"),
        ({"actions": [None]}, "action 1: cannot read the action None: an action is a text"),
        ({"actions": ["play B1", "play B1"]}, "action 2: B1 is not in the hand of seat 0"),
        ({"actions": ["play B1", "pass"]}, "action 2: 'pass' has no place here"),
        ({"actions": ["plays B1"]}, "action 1: cannot read the action 'plays B1'"),
    ],
)
def test_refused(change, message):
    with pytest.raises(MalformedState, match=message):
        TwoPlayer.from_json(SAVED | change)


@pytest.mark.parametrize("value", [None, [], "state", 3, {}, {"variant": "two-player"}])
def test_no_saved_state(value):
    with pytest.raises(MalformedState, match="variant, deck, first and actions"):
        TwoPlayer.from_json(value)


def test_act_names_the_seat():
    state = TwoPlayer.start(DECK)
    with pytest.raises(NotYourTurn, match="turn of seat 0, not of seat 1"):
        state.act(1, PLAYS[Card.B2])
    with pytest.raises(UnknownSeat, match="the seats are 0 to 1"):
        state.act(-1, PLAYS[Card.B1])
    while not state.is_over:
        state = state.apply(state.legal_actions()[0])
    with pytest.raises(GameOver):
        state.act(0, PLAYS[Card.B1])
