"""What a seat is told."""

import json

import pytest

from app.briscola.action import PLAYS
from app.briscola.cards import DECK, Card
from app.briscola.errors import UnknownSeat
from app.briscola.two_player import TwoPlayer


def test_json_of_an_observation():
    # Leader seat 1: B1 B3 B5; seat 0: B2 B4 B6; briscola B7; then B8, B9 drawn.
    state = TwoPlayer.start(DECK, 1)
    for card in (Card.B1, Card.B4, Card.B3):
        state = state.apply(PLAYS[card])
    told = state.observation(0).to_json()
    assert told == {
        "variant": "two-player",
        "first": 1,
        "to_move": 0,
        "trump": "B",
        "face_up": "B7",
        "stock_left": 32,
        "leader": 1,
        "table": ["B3"],
        "hand_sizes": [3, 2],
        "points": [0, 11],
        "actions": ["play B1", "play B4", "play B3"],
        "seat": 0,
        "hand": ["B2", "B6", "B9"],
        "legal_actions": ["play B2", "play B6", "play B9"],
    }
    assert json.loads(json.dumps(told)) == told
    assert state.observation(1).legal_actions == ()
    assert state.observation(1).public == state.observation(0).public


@pytest.mark.parametrize("seat", [-1, 2, True, 0.5, "0", None])
def test_no_such_seat(seat):
    with pytest.raises(UnknownSeat, match=f"no seat {seat!r}: the seats are 0 to 1"):
        TwoPlayer.start(DECK).observation(seat)
