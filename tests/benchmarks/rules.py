"""Random legal two-player hands per second of one core's time, beside the PyPI package `briscola-gym`.

`python -m tests.benchmarks.rules`. The peer is skipped where it is not installed; its own dependency `gym`
no longer builds, so a stub stands in for it: `pip install --no-deps briscola-gym numpy` is enough. It ends a
hand once both players together have more than 60 points, after about ten of the twenty tricks, so the ratio
is given by tricks as well as by its own short hands.
"""

import sys
import time
import types
from collections.abc import Callable
from random import Random
from statistics import median

from app.briscola.action import parse_action
from app.briscola.cards import DECK
from app.briscola.random_play import random_hand
from app.briscola.two_player import TwoPlayer

ROUNDS = 9
SECONDS = 0.25
TRICKS = 20

random = Random(1).random


def shuffled() -> list[int]:
    """The forty places in a random order; ties of the keys are too rare to matter."""
    keys = [random() for _ in range(40)]
    return sorted(range(40), key=keys.__getitem__)


def inner_game() -> int:
    """A hand of `random_hand`; its tricks."""
    random_hand(shuffled(), random)
    return TRICKS


def states() -> int:
    """A hand of frozen states, asked for their legal actions at every ply; its tricks."""
    state = TwoPlayer.start([DECK[place] for place in shuffled()])
    while legal := state.legal_actions():
        state = state.apply(legal[int(random() * len(legal))])
    return TRICKS


def briscola_gym() -> Callable[[], int] | None:
    """A hand of the peer against its random player; None where it is not installed."""

    class Discrete:
        def __init__(self, n: int) -> None:
            self.n = n

        def __contains__(self, value: int) -> bool:
            return 0 <= value < self.n

    stub, spaces = types.ModuleType("gym"), types.ModuleType("gym.spaces")
    spaces.Discrete = Discrete
    spaces.Tuple = spaces.Dict = lambda *_: None
    stub.spaces, stub.Env = spaces, object
    sys.modules |= {"gym": stub, "gym.spaces": spaces}
    try:
        from briscola_gym.game import BriscolaRandomPlayer
    except ImportError as missing:
        print(f"briscola-gym is skipped: {missing}")
        return None
    env = BriscolaRandomPlayer()

    def hand() -> int:
        env.reset()
        tricks, done = 0, False
        while not done:
            done = env.step(int(random() * len(env.my_player.hand)))[2]
            tricks += 1
        return tricks

    return hand


def rates(hand: Callable[[], int]) -> tuple[float, float]:
    """Hands and tricks per second of processor time, which busy neighbours disturb least."""
    hands = tricks = 0
    began = time.process_time()
    while (spent := time.process_time() - began) < SECONDS:
        tricks += hand()
        hands += 1
    return hands / spent, tricks / spent


def replay() -> float:
    """Milliseconds to read a whole saved hand: deal it and play its forty actions from their text."""
    state = TwoPlayer.start(DECK)
    while not state.is_over:
        state = state.apply(state.legal_actions()[0])
    texts = [str(action) for action in state.actions]
    began = time.perf_counter()
    again = TwoPlayer.start(DECK)
    for text in texts:
        again = again.apply(parse_action(text))
    spent = time.perf_counter() - began
    assert again == state
    return spent * 1e3


def main() -> None:
    """Interleave the rounds and print the medians."""
    peer = briscola_gym()
    players = {"inner game": inner_game, "states": states} | ({"briscola-gym": peer} if peer else {})
    measured: dict[str, list[tuple[float, float]]] = {name: [] for name in players}
    replays = []
    for _ in range(ROUNDS):
        for name, hand in players.items():
            measured[name].append(rates(hand))
        replays.append(replay())
    for name, pairs in measured.items():
        hands, tricks = (median(values) for values in zip(*pairs, strict=True))
        line = f"{name:>13}: {hands:8.0f} hands/s, {tricks:9.0f} tricks/s"
        if peer and name != "briscola-gym":
            for kind, n in (("hands", 0), ("tricks", 1)):
                ratio = median(
                    own[n] / its[n] for own, its in zip(pairs, measured["briscola-gym"], strict=True)
                )
                line += f", {ratio:5.1f} times its {kind}"
        print(line)
    print(f"replaying a whole hand from text: {median(replays):.3f} ms")


if __name__ == "__main__":
    main()
