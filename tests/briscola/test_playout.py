"""The inner game against the rules: same tricks, same hands, and endings solved by brute force."""

from itertools import product

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.briscola.action import PLAYS
from app.briscola.cards import DECK, Suit, parse_card
from app.briscola.playout import CODES, GAIN, LEAD, REPLY, TAKES, playout, solve
from app.briscola.shuffle import RandomSource
from app.briscola.trick import points
from app.briscola.two_player import TwoPlayer
from tests.vectors import load

SEEDS = st.binary(min_size=32, max_size=32)


def difference(state: TwoPlayer, seat: int) -> int:
    return state.table.points[seat] - state.table.points[1 - seat]


def best_for_zero(state: TwoPlayer) -> int:
    """Points of seat 0 less those of seat 1 at the end, both sides seeing everything."""
    if state.to_move is None:
        return difference(state, 0)
    values = [best_for_zero(state.apply(action)) for action in state.legal_actions()]
    return max(values) if state.to_move == 0 else min(values)


def at_empty_stock(seed: bytes) -> TwoPlayer:
    source = RandomSource(seed)
    state = TwoPlayer.start(source.shuffled(DECK), source.randbelow(2))
    while state.table.stock:
        state = state.apply(source.choice(state.legal_actions()))
    return state


@pytest.mark.parametrize("table", load("briscola_two.json")["trick_table"], ids=lambda table: table["trump"])
def test_tricks(table):
    code = CODES[next(suit for suit in Suit if suit.letter == table["trump"])]
    assert sorted(code) == list(range(40))
    for led, reply in product(DECK, DECK):
        if led is not reply:
            takes = str(reply) in table["second_wins"][str(led)]
            assert TAKES[code[led]][code[reply]] == takes
            worth = points([led, reply])
            assert GAIN[code[led]][code[reply]] == (-worth if takes else worth)


@settings(max_examples=40, deadline=None)
@given(seed=SEEDS, tricks=st.integers(1, 3))
def test_endings_are_exact(seed, tricks):
    state = at_empty_stock(seed)
    while len(state.hands[0]) > tricks or state.table.cards:
        state = state.apply(state.legal_actions()[0])
    code = CODES[state.table.trump]
    leader = state.table.leader
    hands = [[code[card] for card in hand] for hand in state.hands]
    value = solve(hands[leader], hands[1 - leader])
    assert difference(state, 0) + (-value if leader else value) == best_for_zero(state)


def test_no_tricks_left():
    assert solve([], []) == 0


@settings(max_examples=40, deadline=None)
@given(seed=SEEDS)
def test_a_playout_is_a_hand_played_by_the_rules(seed):
    source = RandomSource(seed)
    state = TwoPlayer.start(source.shuffled(DECK), source.randbelow(2))
    code = CODES[state.table.trump]
    first = state.first
    hands = [[code[card] for card in hand] for hand in state.hands]
    value = playout(hands[first], hands[1 - first], [code[card] for card in state.table.stock])
    # The same rule of thumb, asked of the state. Equal cards are told apart by place in the hand, and a card
    # drawn takes the place of the one played.
    places = [list(hand) for hand in state.hands]
    gaps = [0, 0]
    while state.table.stock:
        seat = state.to_move
        row = LEAD if not state.table.cards else REPLY[code[state.table.cards[0]]]
        place = max(range(3), key=lambda i: row[code[places[seat][i]]])
        state = state.apply(PLAYS[places[seat][place]])
        gaps[seat] = place
        if not state.table.cards:
            for drawer in (0, 1):
                places[drawer][gaps[drawer]] = state.hands[drawer][-1]
    total = best_for_zero(state)
    assert value == (-total if first else total)


def test_worked_ending():
    # Briscola spade. I hold asso di spade and due di coppe, you hold tre di coppe and due di spade.
    code = CODES[Suit.SPADE]
    mine = [code[parse_card(card)] for card in ("S1", "C2")]
    yours = [code[parse_card(card)] for card in ("C3", "S2")]
    # I lead the asso: you give the due (11 to me), then your tre takes my due di coppe (10 to you).
    # I lead the due di coppe: your tre takes it (10), then your trump falls to my asso (11).
    assert solve(mine, yours) == 1
    # You lead the tre: I take it with the asso (21), and my due then loses to your trump (0).
    # You lead the trump: I give the due di coppe (0) and keep the asso for your tre (21).
    assert solve(yours, mine) == -21
