"""Fast random hands are hands of the rules."""

from itertools import product

from hypothesis import given, settings
from hypothesis import strategies as st

from app.briscola.action import PLAYS
from app.briscola.cards import DECK
from app.briscola.random_play import random_hand
from app.briscola.shuffle import RandomSource
from app.briscola.two_player import TwoPlayer

PLACES = st.lists(st.integers(0, 8), min_size=17, max_size=17)


@settings(max_examples=60, deadline=None)
@given(
    seed=st.binary(min_size=32, max_size=32),
    pairs=PLACES,
    last=st.tuples(st.integers(0, 8), st.integers(0, 3), st.just(0)),
)
def test_the_same_choices_by_the_rules(seed, pairs, last):
    deck = RandomSource(seed).shuffled(DECK)
    # A number in the middle of the n-th of the 9 (4, 1) equal parts picks the n-th pair of places.
    numbers = [(n + 0.5) / 9 for n in pairs] + [
        (n + 0.5) / count for n, count in zip(last, (9, 4, 1), strict=True)
    ]
    points = random_hand(deck, iter(numbers).__next__)

    state = TwoPlayer.start(deck)
    places = [list(hand) for hand in state.hands]
    for n in [*pairs, *last]:
        leader = state.to_move
        size = len(places[0])
        i, j = list(product(range(size), repeat=2))[n]
        at = {leader: i, 1 - leader: j}
        had_stock = bool(state.table.stock)
        for seat in (leader, 1 - leader):
            state = state.apply(PLAYS[places[seat][at[seat]]])
        for seat in (0, 1):
            if had_stock:
                places[seat][at[seat]] = state.hands[seat][-1]
            else:
                places[seat].pop(at[seat])
    assert state.table.points == points


def test_indices_will_do():
    numbers = [0.5] * 20
    assert random_hand(range(40), iter(numbers).__next__) == random_hand(DECK, iter(numbers).__next__)
