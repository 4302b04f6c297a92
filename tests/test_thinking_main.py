from __future__ import annotations

import asyncio
import sys
from pathlib import Path

import orjson
import pytest

from app.child.process import ChildProcess
from app.matches.commitment import Terms
from app.matches.match import Match, Side
from app.thinking_main import answer, question


def whole_hand() -> list[Match]:
    """Every moment of a hand in which master is to move after a card of the player."""
    hand = Match.deal(Terms("0" * 32, "5" * 64, "alice", "master"), b"\1" * 32, b"\2" * 32)
    moments = []
    while not hand.is_over:
        hand = hand.play(hand.next_ply, hand.observation.hand[-1])
        moments.append(hand)
        hand = hand.reply()
    return moments


def test_it_answers_what_the_hand_itself_would() -> None:
    for hand in whole_hand():
        plays = hand.reply().plays[len(hand.plays) :]
        assert orjson.loads(answer(question(hand))) == [str(card) for _, card in plays]
        assert {side for side, _ in plays} <= {Side.COMPUTER}


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
async def test_seeds_and_cards_go_through_the_pipe_alone() -> None:
    hand = whole_hand()[3]
    process = await ChildProcess.start("app.thinking_main")
    process.send(question(hand))
    assert await process.receive() == answer(question(hand))
    for name in ("cmdline", "environ"):
        told = await asyncio.to_thread(Path(f"/proc/{process.pid}/{name}").read_bytes)
        assert told
        assert hand.play_seed.hex().encode() not in told
    await process.stop()


async def test_it_loads_little() -> None:
    """Its memory comes on top of the service's."""
    program = "import sys, app.thinking_main; print(*sys.modules)"
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE, cwd=Path(__file__).parent.parent
    )
    loaded = set((await process.communicate())[0].decode().split())
    assert "app.thinking_main" in loaded
    assert not loaded & {"asyncio", "logging", "pydantic", "sqlalchemy", "coincurve", "starlette"}
