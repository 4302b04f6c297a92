"""The page's computer player: the vectors of seed 002, and hand for hand as Python plays it."""

from __future__ import annotations

import random

import pytest

from app.briscola.computer import computer
from app.briscola.shuffle import shuffled_deck
from app.briscola.two_player import TwoPlayer
from tests.vectors import load
from tests.web.js.node import run

IMPORTS = {
    "opponent.js": "LEVELS, choose",
    "rules.js": "deal, play",
    "shuffle.js": "shuffledDeck",
    "commitment.js": "fromHex",
}
LEVELS = ("gentle", "normal", "sharp")
HANDS = 300


def allowed(level, case):
    """What the text of seed 002 allows; of equals the first in hand order, of the largest the last."""
    cards = [card for card in case["hand"] if card in case[level]]
    return cards[-1] if case[f"{level}_branch"] == "lead-largest" else cards[0]


def test_every_position_of_the_vectors():
    vectors = load("opponent.json")
    cases = vectors["named"] + vectors["positions"]
    assert len(cases) > 1600
    answer = run(
        IMPORTS,
        """return given.map(({ hand, led, briscola, stock }) => LEVELS.map((level) => choose(level, {
          hands: [[], hand], toMove: 1, table: led ? [led] : [], trump: briscola, stock: Array(stock),
        })));""",
        cases,
    )
    assert answer == [[allowed(level, case) for level in LEVELS] for case in cases]


# Plays each deck to its end: seat 0 its card number `lots[ply]` modulo its hand, seat 1 by the level.
PLAY_OUT = """
return given.hands.map(({ seed, lots }) => {
  let hand = deal(shuffledDeck(fromHex(seed)));
  const plays = [], first = hand, written = JSON.stringify(hand);
  while (hand.toMove !== null) {
    const cards = hand.hands[hand.toMove];
    const card = hand.toMove ? choose(given.level, hand) : cards[lots[plays.length] % cards.length];
    plays.push(card);
    hand = play(hand, card);
  }
  return [plays, hand.points, JSON.stringify(first) === written];
});
"""


def played_out(level, seed, lots):
    state = TwoPlayer.start(shuffled_deck(seed))
    player = computer(level, bytes(32))
    while state.to_move is not None:
        legal = state.legal_actions()
        if state.to_move == 0:
            state = state.apply(legal[lots[len(state.actions)] % len(legal)])
        else:
            state = state.apply(player(state.observation(1)))
    return [[str(action.card) for action in state.actions], list(state.table.points), True]


@pytest.mark.parametrize("level", LEVELS)
def test_whole_hands(level):
    chance = random.Random(level)
    hands = [(chance.randbytes(32), [chance.randrange(6) for _ in range(40)]) for _ in range(HANDS)]
    given = {"level": level, "hands": [{"seed": seed.hex(), "lots": lots} for seed, lots in hands]}
    answer = run(IMPORTS, PLAY_OUT, given)
    assert answer == [played_out(level, seed, lots) for seed, lots in hands]


def test_master_is_none_of_its_levels():
    answer = run(
        IMPORTS, 'try { choose("master", {}); } catch (error) { return [error.message, LEVELS]; }', None
    )
    assert answer == ["no exact level master: there are gentle, normal, sharp", list(LEVELS)]
