"""Computer players by name, at every table."""

import pytest

from app.briscola.computer import LEVELS, computer
from app.briscola.master import choose
from app.briscola.shuffle import shuffled_deck
from app.briscola.two_player import TwoPlayer
from app.briscola.variants import VARIANTS


@pytest.mark.parametrize("variant", VARIANTS)
@pytest.mark.parametrize("level", LEVELS[:3])
def test_plays_every_variant_to_its_end(variant, level):
    player = computer(level, bytes(32), variant)
    for n in range(10):
        state = VARIANTS[variant].start(shuffled_deck(bytes([n]) * 32))
        while state.to_move is not None:
            state = state.apply(player(state.observation(state.to_move)))
        assert sum(state.outcome.points) == 120


def test_master_is_given_its_seed():
    seed = bytes([7]) * 32
    told = TwoPlayer.start(shuffled_deck(seed)).observation(0)
    assert computer("master", seed)(told) == choose(told, seed)


def test_refused():
    with pytest.raises(ValueError, match="master plays two-player only, not chiamata"):
        computer("master", bytes(32), "chiamata")
    with pytest.raises(ValueError, match="brutal"):
        computer("brutal", bytes(32))
