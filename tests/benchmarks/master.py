"""Master against a level over duplicate deals: each deal is played from both seats.

`python -m tests.benchmarks.master [--hands 2000] [--worlds N] [--level sharp] [--deals NAME]` prints
wins plus half the draws with its 95 % interval by deal, and the processor time of a move.
"""

import argparse
import time
from collections.abc import Callable
from hashlib import sha256
from statistics import fmean, median, quantiles, stdev

from app.briscola.action import Action
from app.briscola.master import WORLDS
from app.briscola.master import choose as master
from app.briscola.observation import Observation
from app.briscola.opponent import Level, choose
from app.briscola.shuffle import shuffled_deck
from app.briscola.two_player import TwoPlayer

Player = Callable[[Observation], Action]


def play(state: TwoPlayer, players: tuple[Player, Player]) -> TwoPlayer:
    """The end of the hand that these two play."""
    while state.to_move is not None:
        state = state.apply(players[state.to_move](state.observation(state.to_move)))
    return state


def main() -> None:
    """Play and print."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--hands", type=int, default=2000)
    parser.add_argument("--worlds", type=int, default=WORLDS)
    parser.add_argument("--level", type=Level, default=Level.SHARP)
    parser.add_argument("--deals", default="", help="name of another series of deals")
    options = parser.parse_args()
    moves: list[float] = []

    def level(observation: Observation) -> Action:
        return choose(options.level, observation)

    scores, points = [], []
    for deal in range(options.hands // 2):
        seed = sha256(f"{options.deals}{deal}".encode()).digest()

        def searcher(observation: Observation, seed: bytes = seed) -> Action:
            began = time.process_time()
            play = master(observation, seed, options.worlds)
            moves.append(time.process_time() - began)
            return play

        both = 0.0
        for seat in (0, 1):
            players = (searcher, level) if seat == 0 else (level, searcher)
            won = play(TwoPlayer.start(shuffled_deck(seed)), players).table.points[seat]
            both += 1 if won > 60 else 0.5 if won == 60 else 0
            points.append(won)
        scores.append(both / 2)
    half = 1.96 * stdev(scores) / len(scores) ** 0.5
    cuts = quantiles(moves, n=100)
    print(
        f"master ({options.worlds} worlds) against {options.level}: {options.hands} hands of duplicate deals"
    )
    print(
        f"wins + half the draws {fmean(scores):.3f} +- {half:.3f} (95 % by deal), points {fmean(points):.1f}"
    )
    print(
        f"a move: half under {median(moves) * 1e3:.1f} ms, 99 of 100 under {cuts[98] * 1e3:.1f} ms,"
        f" longest {max(moves) * 1e3:.1f} ms"
    )


if __name__ == "__main__":
    main()
