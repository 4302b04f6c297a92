"""What both sides see of a hand in JavaScript, held to Python's rules; and how a hand ends, in words."""

from __future__ import annotations

import random
from typing import Any

import pytest

from app.briscola.action import PLAYS
from app.briscola.shuffle import shuffled_deck
from app.briscola.two_player import TwoPlayer
from tests.web.js.node import run

SIDES = ("player", "computer")


def random_hand(seed: int) -> tuple[str, list[list[str]], list[dict[str, Any]]]:
    """The card under the stock, every play, and Python's table before the first and after each."""
    drawn = random.Random(seed)
    state = TwoPlayer.start(shuffled_deck(drawn.randbytes(32)), first=0)
    face_up = str(state.observation(0).to_json()["face_up"])
    plays: list[list[str]] = []
    tables = []
    while True:
        seen: dict[str, Any] = state.observation(0).to_json()
        led = [plays[-1]] if seen["table"] else []
        tables.append({
            "trump": seen["trump"],
            "points": dict(zip(SIDES, seen["points"], strict=True)),
            "table": led,
            "toMove": None if seen["to_move"] is None else SIDES[seen["to_move"]],
            "stock": seen["stock_left"],
            "computerCards": seen["hand_sizes"][1],
        })  # fmt: skip
        if state.to_move is None:
            return face_up, plays, tables
        card = drawn.choice(state.observation(state.to_move).hand)
        plays.append([SIDES[state.to_move], str(card)])
        state = state.apply(PLAYS[card])


def test_the_table_follows_from_the_plays() -> None:
    hands = [random_hand(seed) for seed in range(20)]
    body = """return given.map(([faceUp, plays]) =>
      [...plays.keys(), 40].map((count) => standing(faceUp, plays.slice(0, count))))"""
    told = run({"standing.js": "standing"}, body, [hand[:2] for hand in hands])
    assert told == [tables for _, _, tables in hands]
    assert hands[0][2][0]["stock"] == 34  # seed 002


@pytest.mark.parametrize(
    ("points", "title", "comment"),
    [
        ((61, 59), "You win, 61 to 59", ""),
        ((120, 0), "You win, 120 to 0", ""),
        ((60, 60), "Sixty all", "A draw is nobody’s win."),
        ((59, 61), "The computer wins, 61 to 59", "The four aces and four threes hold 84 of the 120 points."),
    ],
)
def test_how_a_hand_ends_in_words(points: tuple[int, int], title: str, comment: str) -> None:
    given = dict(zip(SIDES, points, strict=True))
    body = "return [titleOf(given), commentOn(given)]"
    assert run({"outcome_words.js": "titleOf, commentOn"}, body, given) == [title, comment]
