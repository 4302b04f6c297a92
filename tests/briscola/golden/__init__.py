"""Whole games as text: what each seat is told at every ply, kept under version control.

`python -m tests.briscola.golden` writes the files anew; the diff is then to be read.
"""

from pathlib import Path

from app.briscola.game import State
from app.briscola.shuffle import RandomSource, shuffled_deck

FOLDER = Path(__file__).parent


def golden_file(variant: type[State]) -> Path:
    """Where the game of this variant is kept."""
    return FOLDER / f"{variant.variant}.txt"


def playthrough(variant: type[State], seed: bytes = bytes(32)) -> str:
    """The deck that follows from `seed`, seat 0 first, played at random from the same seed."""
    source = RandomSource(seed, b"golden")
    state = variant.start(shuffled_deck(seed))
    lines = [f"{variant.variant}, seed {seed.hex()}", f"deck: {_words(state.deck)}"]
    while not state.is_over:
        action = source.choice(state.legal_actions())
        lines += ["", *_told(state), f"seat {state.to_move}: {action}"]
        state = state.apply(action)
    lines += ["", *_told(state), f"outcome: {state.outcome}"]
    return "\n".join(lines) + "\n"


def _told(state: State) -> list[str]:
    public = state.observation(0).public.to_json()
    del public["variant"], public["actions"]
    lines = [f"after {len(state.actions)}: " + " ".join(f"{name}={_words(v)}" for name, v in public.items())]
    for seat in range(state.seats):
        told = state.observation(seat)
        lines.append(f"  {seat}: {_words(told.hand)} | {_words(told.legal_actions, ', ')}".rstrip(" |"))
    return lines


def _words(value: object, between: str = " ") -> str:
    if isinstance(value, list | tuple):
        return "[" + between.join(map(str, value)) + "]"
    return "-" if value is None else str(value)
