"""The engine against the fake relay: the happy path, holding, watching, stopping, faults of the store."""

import asyncio
from collections.abc import Callable

import uvloop

from app.delivery.engine import Engine
from app.delivery.model import DeliveryState
from tests.delivery.outbox import MemoryOutbox, make_delivery
from tests.relays.fake import FakeRelay, closing, in_turn, nothing, ok, resetting, respond, store
from tests.relays.virtual_time import virtual_time


def no_auth(relay: str, challenge: str) -> None:
    return None


def wall() -> Callable[[], float]:
    """The loop's clock as unix seconds."""
    return asyncio.get_running_loop().time


def engine(outbox: MemoryOutbox, *relays: FakeRelay) -> Engine:
    return Engine([relay.url for relay in relays], outbox, sign_auth=no_auth, clock=wall(), rng=lambda: 0.5)


@virtual_time
async def test_what_waits_in_the_outbox_is_delivered_unchanged() -> None:
    outbox = MemoryOutbox()
    async with FakeRelay() as relay:
        deliveries = [make_delivery(relay.url, number) for number in range(100)]
        outbox.add(*deliveries)
        async with engine(outbox, relay):
            await outbox.until(lambda: outbox.count(DeliveryState.ACCEPTED) == 100)
        assert relay.raw == [delivery.payload for delivery in deliveries]
        assert relay.peak_sockets == 1


@virtual_time
async def test_a_dispatched_delivery_is_sent_without_a_claim() -> None:
    outbox = MemoryOutbox()
    async with FakeRelay() as relay, engine(outbox, relay) as running:
        await relay.until(lambda: relay.open_sockets == 1)
        await asyncio.sleep(0.5)
        assert running.accepting() == {relay.url}
        delivery = make_delivery(relay.url)
        outbox.add(delivery, held=True)
        watch = running.watch(delivery.event_id, [relay.url])
        running.dispatch([delivery])
        claims = outbox.claims
        await watch.wait(30)
        assert outbox.row(delivery).state is DeliveryState.ACCEPTED
        assert outbox.claims == claims


@virtual_time
async def test_a_watch_costs_no_more_than_its_timeout() -> None:
    outbox = MemoryOutbox()
    async with (
        FakeRelay(on_event=nothing) as silent,
        FakeRelay(on_event=ok()) as good,
        engine(outbox, silent, good) as running,
    ):
        await asyncio.sleep(0.5)
        deliveries = [make_delivery(silent.url), make_delivery(good.url)]
        outbox.add(*deliveries, held=True)
        watch = running.watch(deliveries[0].event_id, [silent.url, good.url])
        running.dispatch(deliveries)
        before = wall()()
        await watch.wait(5)
        assert 5 <= wall()() - before < 5.1
        assert outbox.row(deliveries[1]).state is DeliveryState.ACCEPTED
        assert outbox.row(deliveries[0]).state is DeliveryState.PENDING


def test_the_same_on_uvloop() -> None:
    """The loop that serves in production has transports of its own."""

    async def run() -> None:
        outbox = MemoryOutbox()
        script = in_turn(resetting, closing(1011), store)
        async with FakeRelay(on_event=script) as relay, FakeRelay(on_handshake=respond(503)) as other:
            deliveries = [make_delivery(relay.url), make_delivery(other.url)]
            outbox.add(*deliveries)
            relays = [relay.url, other.url]
            async with Engine(relays, outbox, sign_auth=no_auth, rng=lambda: 0.0) as running:
                await outbox.until_state(deliveries[0], DeliveryState.ACCEPTED)
                assert "HTTP 503" in running.status()[1].last_error
            assert relay.raw == [deliveries[0].payload] * 3
            assert relay.peak_sockets == 1
            assert [row.held for row in outbox.rows.values()] == [False, False]

    uvloop.run(run())
