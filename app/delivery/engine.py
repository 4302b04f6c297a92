"""The delivery engine: a worker per relay and one recorder behind them all."""

import asyncio
import logging
import random
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from types import TracebackType
from typing import Self

from app.delivery.authentication import SignAuth
from app.delivery.backoff import Random
from app.delivery.forever import forever
from app.delivery.limits import AskLimits
from app.delivery.model import Delivery, DeliveryState, Outbox, Outcome
from app.delivery.recorder import Recorder
from app.delivery.status import RelayStatus, about
from app.delivery.watch import Watch, Watches
from app.delivery.worker import Worker
from app.nostr.relay_url import public_relay_url

ANSWER_GRACE_SECONDS = 2.0
CLOSE_GRACE_SECONDS = 1.5
RECORD_GRACE_SECONDS = 1.0

logger = logging.getLogger(__name__)


class Engine:
    """Delivers events to relays while its context is entered; leaving it takes less than five seconds.

    Args:
        relays: Normalised relay URLs; each gets one socket, ever.
        outbox: The durable deliveries.
        sign_auth: Makes the signed NIP-42 event for a relay URL and a challenge, or returns None.
        ask_limits: Gets the limits that a relay tells (NIP-11); None to go by none.
        clock: Unix seconds.
        rng: Floats in [0, 1), for jitter.
    """

    def __init__(
        self,
        relays: Sequence[str],
        outbox: Outbox,
        *,
        sign_auth: SignAuth,
        ask_limits: AskLimits | None = None,
        clock: Callable[[], float] = time.time,
        rng: Random = random.random,
    ) -> None:
        self._relays = tuple(dict.fromkeys(relays))
        self._outbox = outbox
        self._sign_auth = sign_auth
        self._ask_limits = ask_limits
        self._clock = clock
        self._random = rng
        self._watches = Watches()
        self._workers: dict[str, Worker] = {}
        self._tasks: list[asyncio.Task[None]] = []

    async def __aenter__(self) -> Self:
        self._recorder = Recorder(self._outbox, self._recorded, random=self._random)
        for relay in self._relays:
            self._workers[relay] = Worker(
                relay,
                self._outbox,
                self._recorder.add,
                sign_auth=self._sign_auth,
                ask_limits=self._ask_limits,
                clock=self._clock,
                random=self._random,
            )
        self._recording = asyncio.create_task(
            forever(self._recorder.run, "delivery", logger), name="record outcomes"
        )
        self._tasks = [
            asyncio.create_task(
                forever(worker.run, "delivery", logger), name=f"deliver to {public_relay_url(worker.relay)}"
            )
            for worker in self._workers.values()
        ]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        if drained := [worker.stop() for worker in self._workers.values()]:
            await asyncio.wait(drained, timeout=ANSWER_GRACE_SECONDS)
        for task in self._tasks:
            task.cancel()
        if self._tasks:
            await asyncio.wait(self._tasks, timeout=CLOSE_GRACE_SECONDS)
        try:
            async with asyncio.timeout(RECORD_GRACE_SECONDS):
                await self._recorder.flushed()
        except TimeoutError:
            logger.error(
                "stopped with outcomes unrecorded: their deliveries are sent again at the next start"
            )
        self._recording.cancel()
        await asyncio.wait([self._recording])

    def accepting(self) -> frozenset[str]:
        """The relays whose worker would take a new delivery from memory right now."""
        return frozenset(relay for relay, worker in self._workers.items() if worker.accepting)

    def dispatch(self, deliveries: Iterable[Delivery]) -> None:
        """Deliver what a commit has just stored as held by this process; never blocks.

        Call it on the event loop. What a worker cannot take is given back through the outbox. Of two queued
        deliveries for one address the older is dropped: the store has marked it superseded.

        Raises:
            KeyError: A delivery names a relay that this engine was not given.
        """
        for delivery in deliveries:
            self._workers[delivery.relay].offer(delivery)

    def wake(self, relays: Iterable[str]) -> None:
        """Have these relays' workers look into the outbox: deliveries were stored that nobody holds."""
        for relay in relays:
            self._workers[relay].wake()

    def gave_up(self, counts: Mapping[str, int]) -> None:
        """Count deliveries that were given up in the outbox; relay URL -> how many."""
        for relay, count in counts.items():
            if (worker := self._workers.get(relay)) is not None:
                worker.gave_up(count)

    def watch(self, event_id: str, relays: Iterable[str]) -> Watch:
        """Watch an event that will be dispatched; wait on it, or cancel it."""
        return self._watches.add(event_id, relays)

    def status(self) -> tuple[RelayStatus, ...]:
        """How delivery to each relay stands."""
        return tuple(worker.status() for worker in self._workers.values())

    def _recorded(self, outcomes: Sequence[Outcome]) -> None:
        for outcome in outcomes:
            if outcome.state is DeliveryState.FAILED:
                logger.error(
                    "%s: event %s: %s",
                    public_relay_url(outcome.relay),
                    outcome.event_id,
                    outcome.message,
                    extra=about(outcome.relay) | {"event": outcome.event_id},
                )
            self._workers[outcome.relay].recorded(outcome)
            self._watches.recorded(outcome)
