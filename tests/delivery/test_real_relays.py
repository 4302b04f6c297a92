"""The same contract on the fake and on both real relays: delivered, readable, and refusals understood."""

from __future__ import annotations

import json
import time
from functools import partial
from typing import TYPE_CHECKING

import pytest
from nostr_sdk import Keys, LocalRelayBuilder, LocalRelayBuilderNip42, LocalRelayBuilderNip42Mode

from app.delivery.engine import Engine
from app.delivery.fetch import fetch
from app.delivery.model import DeliveryState
from tests.delivery.outbox import MemoryOutbox
from tests.relays import real
from tests.relays.events import signed_auth, signed_delivery
from tests.relays.fake import FakeRelay

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from app.delivery.model import Delivery

KEYS = Keys.generate()


def engine(relay: str, outbox: MemoryOutbox) -> Engine:
    return Engine([relay], outbox, sign_auth=partial(signed_auth, KEYS), rng=lambda: 0.0)


@pytest.fixture(params=["fake", "rust", "python"])
async def relay(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[str]:
    match request.param:
        case "fake":
            async with FakeRelay() as fake:
                yield fake.url
        case "rust":
            async with real.rust_relay() as url:
                yield url
        case "python":
            async with real.python_relay(tmp_path) as url:
                yield url


async def deliver(relay: str, *deliveries: Delivery) -> MemoryOutbox:
    outbox = MemoryOutbox()
    outbox.add(*deliveries)
    async with engine(relay, outbox):
        await outbox.until(lambda: all(row.history for row in outbox.rows.values()))
    return outbox


async def test_delivered_events_can_be_read_back(relay: str) -> None:
    deliveries = [signed_delivery(KEYS, relay, f"player{number}", number) for number in range(20)]
    outbox = await deliver(relay, *deliveries)
    assert outbox.count(DeliveryState.ACCEPTED) == 20
    author = json.loads(deliveries[0].payload)["pubkey"]
    fetched = await fetch(relay, [{"kinds": [31250], "authors": [author]}], timeout=10, limit=100)
    assert fetched.complete
    assert {event.event_id for event in fetched.events} == {delivery.event_id for delivery in deliveries}


async def test_the_same_event_twice_is_accepted_both_times(relay: str) -> None:
    delivery = signed_delivery(KEYS, relay, "alice")
    await deliver(relay, delivery)
    outbox = await deliver(relay, delivery)
    assert outbox.row(delivery).state is DeliveryState.ACCEPTED


async def test_the_rust_relays_rate_limit_is_a_reason_to_wait() -> None:
    async with real.rust_relay(lambda builder: builder) as url:
        deliveries = [signed_delivery(KEYS, url, f"player{number}") for number in range(70)]
        outbox = await deliver(url, *deliveries)
        assert outbox.count(DeliveryState.ACCEPTED) == 60
        refused = [row for row in outbox.rows.values() if row.state is DeliveryState.PENDING]
        assert len(refused) == 10
        assert all(row.history[0].message.startswith("rate-limited:") for row in refused)
        assert all(row.due is not None and row.due > time.time() - 1 for row in refused)


async def test_authentication_on_the_rust_relay() -> None:
    def configure(builder: LocalRelayBuilder) -> LocalRelayBuilder:
        mode = LocalRelayBuilderNip42(mode=LocalRelayBuilderNip42Mode.WRITE)
        return real.without_rate_limit(builder).nip42(mode)

    async with real.rust_relay(configure) as url:
        delivery = signed_delivery(KEYS, url, "alice")
        outbox = await deliver(url, delivery)
        assert outbox.row(delivery).state is DeliveryState.ACCEPTED


async def test_what_the_rust_relay_calls_an_error_is_found_out_to_be_superseded() -> None:
    async with real.rust_relay() as url:
        older = signed_delivery(KEYS, url, "alice", 10, created_at=1_700_000_000)
        newer = signed_delivery(KEYS, url, "alice", 20, created_at=1_700_000_001)
        await deliver(url, newer)
        outbox = MemoryOutbox()
        outbox.add(older)
        outbox.newer.add(older.event_id)
        async with engine(url, outbox):
            row = await outbox.until_state(older, DeliveryState.SUPERSEDED)
    assert [outcome.message for outcome in row.history] == [
        *["error: unknown"] * 3,
        "replaced: the relay holds a newer event",
    ]


async def test_the_python_relays_nameless_refusal_holds_up_nothing_else(python_relay: str) -> None:
    refused = signed_delivery(KEYS, python_relay, "verbose", content="x" * 281)
    good = signed_delivery(KEYS, python_relay, "alice")
    outbox = MemoryOutbox()
    outbox.add(refused, good)
    async with engine(python_relay, outbox):
        await outbox.until_state(good, DeliveryState.ACCEPTED)
    assert outbox.row(refused).state is DeliveryState.PENDING
