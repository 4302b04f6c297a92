"""Outcomes on their way into the outbox: gathered from every relay, written together, never dropped."""

import asyncio
import logging
from collections.abc import Callable, Sequence

from app.delivery.backoff import Random, delay
from app.delivery.model import Outbox, Outcome

LINGER_SECONDS = 0.005
"""Outcomes wait this long for company, so that a busy relay does not cost one commit per answer."""

logger = logging.getLogger(__name__)


class Recorder:
    """Writes outcomes in batches, one batch at a time, and repeats a batch until the outbox has taken it."""

    def __init__(
        self, outbox: Outbox, recorded: Callable[[Sequence[Outcome]], None], *, random: Random
    ) -> None:
        self._outbox = outbox
        self._recorded = recorded
        self._random = random
        self._waiting: list[Outcome] = []
        self._wanted = asyncio.Event()
        self._idle = asyncio.Event()
        self._idle.set()

    def add(self, outcome: Outcome) -> None:
        """Have an outcome written soon."""
        self._waiting.append(outcome)
        if not self._wanted.is_set():
            self._wanted.set()
            self._idle.clear()

    async def run(self) -> None:
        """Write outcomes until cancelled."""
        while True:
            await self._wanted.wait()
            await asyncio.sleep(LINGER_SECONDS)
            batch, self._waiting = self._waiting, []
            self._wanted.clear()
            await self._write(batch)
            self._recorded(batch)
            if not self._waiting:
                self._idle.set()

    async def flushed(self) -> None:
        """Return once nothing waits to be written."""
        await self._idle.wait()

    async def _write(self, batch: list[Outcome]) -> None:
        failures = 0
        while True:
            try:
                await self._outbox.record(batch)
            except Exception as error:  # noqa: BLE001 - whatever ails the store, the outcomes are kept
                failures += 1
                pause = delay(failures, self._random)
                logger.error("%d outcomes not recorded, again in %.1f s: %r", len(batch), pause, error)
                await asyncio.sleep(pause)
            else:
                return
