"""Master: exact where it can be, the same for the same seed, and stronger than Sharp."""

import pytest
from hypothesis import given, settings

from app.briscola.cards import DECK
from app.briscola.errors import NotYourTurn
from app.briscola.master import choose
from app.briscola.opponent import Level
from app.briscola.opponent import choose as level_choice
from app.briscola.partnership import Partnership
from app.briscola.shuffle import RandomSource, shuffled_deck
from app.briscola.two_player import TwoPlayer
from tests.briscola.test_playout import SEEDS, at_empty_stock, best_for_zero

SEED = bytes(32)


@settings(max_examples=30, deadline=None)
@given(seed=SEEDS)
def test_exact_once_the_stock_is_empty(seed):
    state = at_empty_stock(seed)
    while not state.is_over:
        play = choose(state.observation(state.to_move), SEED)
        after = state.apply(play)
        assert best_for_zero(after) == best_for_zero(state)
        # The other side errs at random, so that the next ending is another one.
        state = after if after.is_over else after.apply(RandomSource(seed).choice(after.legal_actions()))


def test_the_same_seed_plays_the_same_hand():
    def hand(seed: bytes) -> list[str]:
        state = TwoPlayer.start(shuffled_deck(SEED))
        while not state.is_over:
            state = state.apply(choose(state.observation(state.to_move), seed, worlds=30))
        return [str(action) for action in state.actions]

    hands = [hand(bytes([n]) * 32) for n in range(4)]
    assert hands == [hand(bytes([n]) * 32) for n in range(4)]
    assert any(one != hands[0] for one in hands)


def test_all_worlds_are_seen_when_they_are_few():
    # Four cards are unseen before the last draw, so four worlds: the seed no longer matters.
    state = TwoPlayer.start(shuffled_deck(SEED))
    while len(state.table.stock) > 2:
        state = state.apply(state.legal_actions()[0])
    told = state.observation(state.to_move)
    assert len({choose(told, bytes([n]) * 32, worlds=4) for n in range(20)}) == 1


def test_plays_better_than_sharp():
    # 100 hands of duplicate deals with few worlds; everything follows from the seeds, so nothing can waver.
    score = 0.0
    for deal in range(50):
        seed = bytes([deal]) * 32
        for seat in (0, 1):
            state = TwoPlayer.start(shuffled_deck(seed))
            while state.to_move is not None:
                told = state.observation(state.to_move)
                master = state.to_move == seat
                state = state.apply(choose(told, seed, 60) if master else level_choice(Level.SHARP, told))
            score += (1 + (state.table.points[seat] > 60) - (state.table.points[seat] < 60)) / 2
    assert score / 100 > 0.62


def test_refuses_what_it_does_not_play():
    with pytest.raises(NotYourTurn, match="seat 1 is not to move"):
        choose(TwoPlayer.start(DECK).observation(1), SEED)
    with pytest.raises(NotYourTurn, match="two-player hand"):
        choose(Partnership.start(DECK).observation(0), SEED)
