"""When and how one relay's worker asks the outbox, which may fail and is then left alone for a while."""

import asyncio
import logging
from collections.abc import Awaitable, Callable

from app.delivery.backoff import Random, delay
from app.delivery.model import Delivery, Outbox
from app.delivery.status import about
from app.nostr.event import Event
from app.nostr.relay_url import public_relay_url

POLL_SECONDS = 2.0
"""How long what another process put into the outbox may go unnoticed."""

SLACK_SECONDS = 0.01
"""A claim comes this much after a due time, so that two clocks that differ a little agree that it is due."""

logger = logging.getLogger(__name__)


class Intake:
    """Claims deliveries for one relay.

    Attributes:
        backlog: Whether the last claim left work behind.
    """

    def __init__(self, relay: str, outbox: Outbox, *, clock: Callable[[], float], random: Random) -> None:
        self.backlog = False
        self._relay = relay
        self._outbox = outbox
        self._clock = clock
        self._random = random
        self._loop = asyncio.get_running_loop()
        self._failures = 0
        self._noted: bool | None = None
        # On the loop's clock, which no one sets back.
        self._due = 0.0
        self._not_before = 0.0

    def due_by(self, due: float) -> bool:
        """Take note that a delivery becomes due then (unix seconds); whether that is sooner than all else."""
        at = self._loop.time() + due - self._clock() + SLACK_SECONDS
        sooner = at < self._due
        if sooner:
            self._due = at
        return sooner

    def wait(self) -> float:
        """Seconds until it is time to claim."""
        at = self._not_before if self.backlog else max(self._due, self._not_before)
        return max(at - self._loop.time(), 0.0)

    async def claim(self, limit: int) -> list[Delivery]:
        """Claim up to `limit` due deliveries; none if the outbox fails, which is logged."""
        # Set before the claim, so that a sooner due time that is heard of during it is not lost.
        self.backlog = False
        self._due = self._loop.time() + POLL_SECONDS
        try:
            claimed = await self._outbox.claim(self._relay, now=self._clock(), limit=limit)
        except Exception as error:  # noqa: BLE001 - whatever ails the store, delivery goes on when it is back
            self._failed(error)
            return []
        self._failures = 0
        self.backlog = len(claimed) == limit
        return claimed

    async def has_newer(self, event_id: str) -> bool | None:
        """Whether the store holds a newer event at the address; None if it fails, which is logged."""
        return await self._attempt(self._outbox.has_newer(event_id))

    async def adopt(self, event: Event) -> bool | None:
        """Have the store take an event that the relay holds; None if it fails, which is logged."""
        return await self._attempt(self._outbox.adopt(self._relay, event))

    async def reached(self, *, connected: bool) -> None:
        """Have the store note whether the relay can be connected to; tried again later if it fails."""
        if connected is self._noted or self._loop.time() < self._not_before:
            return
        try:
            await self._outbox.reached(self._relay, connected=connected)
        except Exception as error:  # noqa: BLE001 - noted later
            self._failed(error)
        else:
            self._noted = connected

    async def _attempt(self, work: Awaitable[bool]) -> bool | None:
        try:
            return await work
        except Exception as error:  # noqa: BLE001 - asked again later
            self._failed(error)
            return None

    def _failed(self, error: Exception) -> None:
        self._failures += 1
        pause = delay(self._failures, self._random)
        self._not_before = self._loop.time() + pause
        logger.error(
            "%s: the outbox failed, again in %.1f s: %r",
            public_relay_url(self._relay),
            pause,
            error,
            extra=about(self._relay),
        )
