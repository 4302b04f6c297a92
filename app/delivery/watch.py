"""Waiting for the relays' answers about one event."""

import asyncio
from collections.abc import Iterable
from contextlib import suppress

from app.delivery.model import DeliveryState, Outcome


class Watch:
    """Done when each of the relays has answered for the event, or will not any more, and that is recorded."""

    def __init__(self, watches: "Watches", event_id: str, relays: Iterable[str]) -> None:
        self._watches = watches
        self._event_id = event_id
        self._missing = set(relays)
        self._done = asyncio.Event()
        if not self._missing:
            self._done.set()

    async def wait(self, timeout: float) -> None:  # noqa: ASYNC109 - a deadline is this call's whole meaning
        """Wait at most `timeout` seconds; returns either way, and the watch is over."""
        try:
            with suppress(TimeoutError):
                async with asyncio.timeout(timeout):
                    await self._done.wait()
        finally:
            self.cancel()

    def cancel(self) -> None:
        """Watch no longer; for a watch that nobody will wait on."""
        self._watches.remove(self._event_id, self)

    def settled(self, relay: str) -> None:
        """Take note that this relay has nothing more to say."""
        self._missing.discard(relay)
        if not self._missing:
            self._done.set()


class Watches:
    """Every watch that is being waited on, by event id."""

    def __init__(self) -> None:
        self._watches: dict[str, list[Watch]] = {}

    def add(self, event_id: str, relays: Iterable[str]) -> Watch:
        """Watch an event from now on."""
        watch = Watch(self, event_id, relays)
        self._watches.setdefault(event_id, []).append(watch)
        return watch

    def remove(self, event_id: str, watch: Watch) -> None:
        """Forget a watch; does nothing when it is forgotten already."""
        watches = self._watches.get(event_id, [])
        if watch in watches:
            watches.remove(watch)
        if not watches:
            self._watches.pop(event_id, None)

    def recorded(self, outcome: Outcome) -> None:
        """Tell whoever watches that this outcome is durable."""
        for watch in self._watches.get(outcome.event_id, ()):
            if outcome.answered or outcome.state is not DeliveryState.PENDING:
                watch.settled(outcome.relay)
