"""Computer players by name: what a table asks for its next action."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial
from typing import TYPE_CHECKING

from app.briscola import master, opponent
from app.briscola.action import Play
from app.briscola.bidder import bid_or_call
from app.briscola.two_player import TwoPlayer

if TYPE_CHECKING:
    from app.briscola.action import Action
    from app.briscola.observation import Observation

Player = Callable[["Observation"], "Action"]
"""Chooses an action for the seat whose observation it is given; that seat is to move."""

MASTER = "master"
LEVELS: tuple[str, ...] = (*(level.value for level in opponent.Level), MASTER)
"""From the weakest to the strongest."""


def computer(level: str, seed: bytes, variant: str = TwoPlayer.variant) -> Player:
    """The player of this level. Only master uses the seed, and master plays two-player hands only.

    Raises:
        ValueError: no such level, or not in this variant.
    """
    if level == MASTER:
        if variant != TwoPlayer.variant:
            raise ValueError(f"{MASTER} plays {TwoPlayer.variant} only, not {variant}")
        return partial(master.choose, seed=seed)
    return partial(_play_or_bid, opponent.Level(level))


def _play_or_bid(level: opponent.Level, observation: Observation) -> Action:
    if observation.legal_actions and not isinstance(observation.legal_actions[0], Play):
        return bid_or_call(observation)
    return opponent.choose(level, observation)
