"""Actions and their text."""

import pytest

from app.briscola.action import PLAYS, Ack, Bid, Call, Pass, Play, Raise, parse_action
from app.briscola.cards import DECK, Card, Rank
from app.briscola.errors import MalformedAction


@pytest.mark.parametrize(
    ("text", "action"),
    [
        ("play D3", Play(Card.D3)),
        ("bid K", Bid(Rank.KING)),
        ("bid 7", Bid(Rank.SEVEN)),
        ("bid 62", Raise(62)),
        ("bid 120", Raise(120)),
        ("pass", Pass()),
        ("call S1", Call(Card.S1)),
        ("ack 4", Ack(4)),
    ],
)
def test_text_and_value(text, action):
    assert parse_action(text) == action
    assert str(action) == text


def test_every_action_round_trips_and_is_a_key():
    actions = [
        *PLAYS,
        *map(Call, DECK),
        *map(Bid, Rank),
        *map(Raise, range(62, 121, 2)),
        Pass(),
        *map(Ack, range(5)),
    ]
    assert [parse_action(str(action)) for action in actions] == actions
    assert len(set(actions)) == len(actions)


@pytest.mark.parametrize(
    "text",
    [
        "", "play", "play ", "play B11", "play  D3", "Play D3", "play D3 ", "call", "call K", "bid", "bid 1",
        "bid 60",
        "bid 61", "bid 63", "bid 122", "bid 062", "bid Q", "pass ", "pass me", "ack", "ack 5", "ack -1",
        "D3",
    ],
)  # fmt: skip
def test_refused(text):
    with pytest.raises(MalformedAction, match="cannot read the action"):
        parse_action(text)
