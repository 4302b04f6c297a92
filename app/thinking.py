"""The computer's answer to a play: at once at the exact levels, on a thread at `master`, which searches."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING

from app.briscola.computer import MASTER

if TYPE_CHECKING:
    from app.matches.match import Match, Ply

MASTER_SECONDS = 0.05
"""Master's answer takes at least so long, so that the time it thinks tells nothing of its cards."""

MAX_THINKING = 200
"""Hands that wait for master at once; one more is refused, not kept waiting for many seconds."""


class TooManyThinking(Exception):
    """So many hands wait for the level `master` that another would wait too long."""


class Thinking:
    """Answers plays. What is asked again while it is thought about is thought about once."""

    def __init__(self) -> None:
        # One thread: it shares the interpreter with the event loop.
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="master")
        # by play seed, which no two matches share, and plays
        self._answers: dict[tuple[bytes, tuple[Ply, ...]], asyncio.Task[Match]] = {}

    def close(self) -> None:
        """Let go of the thread, which ends its play."""
        self._thread.shutdown(cancel_futures=True)

    async def answer(self, hand: Match) -> Match:
        """The hand once the computer has played until the player is to move again, or it is over.

        Raises:
            TooManyThinking: nothing was played.
        """
        if hand.level != MASTER:
            return hand.reply()
        key = (hand.play_seed, hand.plays)
        if (thought := self._answers.get(key)) is None:
            if len(self._answers) >= MAX_THINKING:
                raise TooManyThinking
            thought = self._answers[key] = asyncio.create_task(self._think(hand))
            thought.add_done_callback(lambda _: self._answers.pop(key))
        return await asyncio.shield(thought)  # others may wait for it too

    async def _think(self, hand: Match) -> Match:
        loop = asyncio.get_running_loop()
        after, _ = await asyncio.gather(
            loop.run_in_executor(self._thread, hand.reply), asyncio.sleep(MASTER_SECONDS)
        )
        return after
