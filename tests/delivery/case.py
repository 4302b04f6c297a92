"""An engine at work on one fake relay, with an outbox in memory, on virtual time."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

from app.delivery.engine import Engine
from app.delivery.held import LIMIT
from app.delivery.model import Delivery, DeliveryState
from tests.delivery.outbox import MemoryOutbox, Row, make_delivery
from tests.relays.fake import FakeRelay

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from app.delivery.status import RelayStatus


class Case:
    """An engine at work on one fake relay."""

    def __init__(self, relay: FakeRelay, engine: Engine, outbox: MemoryOutbox, auth: list[str]) -> None:
        self.relay = relay
        self.engine = engine
        self.outbox = outbox
        self.authenticated_to = auth

    @property
    def status(self) -> RelayStatus:
        return self.engine.status()[0]

    def post(self, number: int = 0, *, created_at: int = 1_000) -> Delivery:
        delivery = make_delivery(self.relay.url, number, created_at=created_at)
        self.outbox.add(delivery)
        return delivery

    async def deliver(self, number: int = 0) -> Row:
        """Post one event and wait until it is accepted."""
        return await self.outbox.until_state(self.post(number), DeliveryState.ACCEPTED)

    async def first_outcome(self, delivery: Delivery) -> Row:
        """Wait until anything is recorded of a delivery."""
        row = self.outbox.row(delivery)
        await self.outbox.until(lambda: bool(row.history))
        return row


@asynccontextmanager
async def case(**script: Any) -> AsyncIterator[Case]:
    """An engine on a relay with this script; leaving it takes less than five seconds."""
    outbox, auth = MemoryOutbox(), []
    loop = asyncio.get_running_loop()

    def sign_auth(relay: str, challenge: str) -> str:
        auth.append(relay)
        return json.dumps({"id": f"auth-{challenge}", "kind": 22242, "challenge": challenge})

    async with FakeRelay(**script) as relay:
        engine = Engine([relay.url], outbox, sign_auth=sign_auth, clock=loop.time, rng=lambda: 0.5)
        async with engine:
            yield Case(relay, engine, outbox, auth)
            leaving = loop.time()
        assert loop.time() - leaving < 5
        assert [worker._held.room for worker in engine._workers.values()] == [LIMIT]
