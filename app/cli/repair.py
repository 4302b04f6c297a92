"""Sending relays again what an audit missed: by the service that runs, or by this process if none does."""

from __future__ import annotations

import asyncio
import time
from collections import Counter
from contextlib import AsyncExitStack, closing
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from app.cli.store import reading
from app.delivery.intake import POLL_SECONDS
from app.delivery.model import DeliveryState
from app.main import open_service
from app.store.database import Database
from app.store.holdings import send_again, standings

if TYPE_CHECKING:
    from collections.abc import Callable, Mapping, Sequence

    from app.config import Settings

_LOOK_EVERY = 0.25
_LOOK_AT = 500  # the outbox is emptied from its head, so that is where to look
_PATIENCE = 2 * POLL_SECONDS + 1
"""A service that is connected to a relay has taken something for it by then."""

_LONG_PATIENCE = 60.0
"""One that has taken something may be made to wait by the relay; it is taken for gone only after so long."""

# A newer score that superseded what was sent again is on its way like any other.
_ARRIVED = frozenset({DeliveryState.ACCEPTED, DeliveryState.SUPERSEDED})


@dataclass(slots=True)
class Repair:
    """What sending again came to at one relay.

    Attributes:
        arrived: how many events the relay has now.
        failed: how many it has not, by the delivery's state and the relay's words.
    """

    arrived: int = 0
    failed: Counter[tuple[DeliveryState, str]] = field(default_factory=Counter)


class _Watch:
    """The deliveries to one relay that are not settled yet."""

    def __init__(self, database: Database, relay: str, seqs: Sequence[int]) -> None:
        self.relay = relay
        self.result = Repair()
        self.served = False  # some process has had these in hand
        self._database = database
        self._left = list(seqs)

    @property
    def done(self) -> bool:
        return not self._left

    def look(self) -> int:
        """Count what has settled since the last look; returns how many."""
        head, rest = self._left[:_LOOK_AT], self._left[_LOOK_AT:]
        with reading(self._database) as connection:
            found = standings(connection, self.relay, head)
        pending = [seq for seq in head if found[seq].state is DeliveryState.PENDING]
        self.served |= len(pending) < len(head) or any(found[seq].held for seq in pending)
        for seq in head:
            state, message, _ = found[seq]
            if state in _ARRIVED:
                self.result.arrived += 1
            elif state is not DeliveryState.PENDING:
                self.result.failed[state, message] += 1
        self._left = pending + rest
        return len(head) - len(pending)

    def give_up(self) -> None:
        """Count what has not settled as failed; it stays in the outbox."""
        with reading(self._database) as connection:
            for state, message, _ in standings(connection, self.relay, self._left).values():
                self.result.failed[state, message] += 1


async def repair(
    settings: Settings,
    wanted: Mapping[str, Sequence[int]],
    *,
    wait: float,
    arrived: Callable[[str, int], None],
) -> dict[str, Repair]:
    """Send relays events of the store again, and watch until each is settled.

    Args:
        wanted: the `seq`s of the events for each relay.
        wait: seconds without an arrival after which to watch no longer.
        arrived: told of each relay and how many more of its deliveries are settled.

    Raises:
        StoreError: the store does not take it.
    """
    loop = asyncio.get_running_loop()
    async with AsyncExitStack() as stack:
        database = stack.enter_context(closing(Database(settings.database_url)))
        with database.writer.begin() as connection:
            for relay, seqs in wanted.items():
                send_again(connection, relay, seqs, time.time())
        watches = [_Watch(database, relay, seqs) for relay, seqs in wanted.items()]
        moved = loop.time()
        alone = False
        while unsettled := [watch for watch in watches if not watch.done]:
            for watch in unsettled:
                if count := await asyncio.to_thread(watch.look):
                    arrived(watch.relay, count)
                    moved = loop.time()
            idle = loop.time() - moved
            served = all(watch.served for watch in unsettled)
            if not alone and idle > (_LONG_PATIENCE if served else _PATIENCE):
                alone = True
                relays = tuple(dict.fromkeys((*settings.relays, *wanted)))
                everywhere = settings.model_copy(update={"relays": relays})
                await stack.enter_async_context(open_service(everywhere, briefly=True))
            elif idle > wait:
                for watch in unsettled:
                    watch.give_up()
                break
            await asyncio.sleep(_LOOK_EVERY)
    return {watch.relay: watch.result for watch in watches}
