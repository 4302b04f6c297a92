"""The computer's answer to a play: at once, but at `master`, which searches in a process of its own."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import orjson

from app import thinking_main
from app.briscola.cards import parse_card
from app.briscola.computer import MASTER
from app.child.aside import Aside

if TYPE_CHECKING:
    from app.matches.match import Match, Ply

MASTER_SECONDS = 0.05
"""Master's answer takes at least so long, so that the time it thinks tells nothing of its cards."""

MAX_THINKING = 200
"""Hands that wait for master at once; one more is refused, not kept waiting for many seconds."""


class TooManyThinking(Exception):
    """So many hands wait for the level `master` that another would wait too long."""


class Thinking:
    """Answers plays. What is asked again while it is thought about is thought about once.

    Made inside a running event loop.
    """

    def __init__(self) -> None:
        self._master = Aside(thinking_main.answer, "app.thinking_main")
        # by play seed, which no two matches share, and plays
        self._answers: dict[tuple[bytes, tuple[Ply, ...]], asyncio.Task[Match]] = {}

    async def close(self) -> None:
        """End `master`'s process; who still waits for it is cancelled."""
        await self._master.close()

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
        cards, _ = await asyncio.gather(
            self._master.ask(thinking_main.question(hand)), asyncio.sleep(MASTER_SECONDS)
        )
        for card in orjson.loads(cards):
            hand = hand.after(parse_card(card))
        return hand
