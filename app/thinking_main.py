"""The process in which `master` thinks: `python -m app.thinking_main`.

It is told seeds and hidden cards, through its input alone.
"""

from __future__ import annotations

import orjson

from app.briscola.computer import MASTER
from app.briscola.two_player import TwoPlayer
from app.child.main import serve
from app.matches.match import Match


def question(hand: Match) -> bytes:
    """A hand in which `master` is to move, as `answer` takes it."""
    return orjson.dumps([hand.play_seed.hex(), hand.state.to_json()])


def answer(question: bytes) -> bytes:
    """The cards that `master` plays until the player is to move again, or the hand is over."""
    seed, state = orjson.loads(question)
    hand = Match(MASTER, bytes.fromhex(seed), TwoPlayer.from_json(state))
    return orjson.dumps([str(ply.card) for ply in hand.reply().plays])


if __name__ == "__main__":
    serve(answer, nice=10)
