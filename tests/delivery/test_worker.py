"""What a worker holds, gives back and survives, seen through the engine."""

from __future__ import annotations

import asyncio
from collections import Counter
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from app.delivery.engine import Engine
from app.delivery.held import LIMIT as HELD_LIMIT
from app.delivery.model import DeliveryState
from app.delivery.pace import FIRST_WINDOW
from tests.delivery.outbox import MemoryOutbox, make_delivery
from tests.relays.fake import FakeRelay, Peer, nothing, ok, resetting, store
from tests.relays.virtual_time import virtual_time

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from app.delivery.model import Delivery
    from tests.relays.fake import Event

ACCEPTED, PENDING, SUPERSEDED = DeliveryState.ACCEPTED, DeliveryState.PENDING, DeliveryState.SUPERSEDED


def make_engine(outbox: MemoryOutbox, *urls: str) -> Engine:
    clock = asyncio.get_running_loop().time
    return Engine(urls, outbox, sign_auth=lambda relay, challenge: None, clock=clock, rng=lambda: 0.5)


@asynccontextmanager
async def connected(relay: FakeRelay, outbox: MemoryOutbox) -> AsyncIterator[Engine]:
    async with make_engine(outbox, relay.url) as engine:
        await relay.until(lambda: relay.open_sockets == 1)
        await asyncio.sleep(0.5)
        yield engine


def dispatch(engine: Engine, outbox: MemoryOutbox, *deliveries: Delivery) -> None:
    outbox.add(*deliveries, held=True)
    engine.dispatch(deliveries)


@virtual_time
async def test_a_relay_that_never_answers_fills_no_memory() -> None:
    outbox = MemoryOutbox()
    async with FakeRelay(on_event=nothing) as relay:
        outbox.add(*(make_delivery(relay.url, number) for number in range(HELD_LIMIT + 500)))
        async with connected(relay, outbox) as engine:
            for _ in range(40):
                await asyncio.sleep(1)
                assert sum(row.held for row in outbox.rows.values()) <= HELD_LIMIT
                [status] = engine.status()
                assert status.queued + status.in_flight <= HELD_LIMIT
        assert not any(row.held for row in outbox.rows.values())


@virtual_time
async def test_a_relay_that_is_down_gets_nothing_into_memory() -> None:
    outbox = MemoryOutbox()
    async with FakeRelay() as relay:
        url = relay.url
    outbox.add(make_delivery(url, 1))
    async with make_engine(outbox, url) as engine:
        await asyncio.sleep(60)
        assert engine.accepting() == frozenset()
        assert outbox.claims == 0
        dispatch(engine, outbox, late := make_delivery(url, 2))
        await asyncio.sleep(1)
        row = outbox.row(late)
        assert (row.state, row.held, row.delivery.attempts) == (PENDING, False, 0)


@virtual_time
async def test_a_batch_beyond_the_bound_is_given_back_and_claimed_later() -> None:
    outbox = MemoryOutbox()
    async with FakeRelay() as relay, connected(relay, outbox) as engine:
        dispatch(engine, outbox, *(make_delivery(relay.url, number) for number in range(HELD_LIMIT + 500)))
        assert engine.accepting() == frozenset()
        await outbox.until(lambda: outbox.count(ACCEPTED) == HELD_LIMIT + 500)
        assert len(relay.events) == HELD_LIMIT + 500


@virtual_time
async def test_everything_in_flight_goes_back_when_the_connection_is_lost() -> None:
    outbox = MemoryOutbox()
    async with FakeRelay(on_event=nothing) as relay, connected(relay, outbox) as engine:
        deliveries = [make_delivery(relay.url, number) for number in range(FIRST_WINDOW + 68)]
        dispatch(engine, outbox, *deliveries)
        await relay.until(lambda: len(relay.events) == FIRST_WINDOW)
        relay.on_event = store
        relay.peers[0].reset()
        await outbox.until(lambda: not any(row.held for row in outbox.rows.values()))
        attempts = [outbox.row(delivery).delivery.attempts for delivery in deliveries]
        assert attempts == [1] * FIRST_WINDOW + [0] * 68
        await outbox.until(lambda: outbox.count(ACCEPTED) == FIRST_WINDOW + 68)
        assert set(relay.raw) == {delivery.payload for delivery in deliveries}


@virtual_time
async def test_a_newer_event_takes_the_place_of_the_older_one_still_queued() -> None:
    outbox = MemoryOutbox()
    async with FakeRelay(on_event=nothing) as relay, connected(relay, outbox) as engine:
        dispatch(engine, outbox, *(make_delivery(relay.url, number) for number in range(FIRST_WINDOW)))
        await relay.until(lambda: len(relay.events) == FIRST_WINDOW)
        relay.on_event = store
        scores = [make_delivery(relay.url, name="alice", created_at=1_000 + n) for n in range(100)]
        watch = engine.watch(scores[0].event_id, [relay.url])
        for score in scores:
            dispatch(engine, outbox, score)
        await watch.wait(5)
        assert outbox.row(scores[0]).state is SUPERSEDED
        await outbox.until_state(scores[-1], ACCEPTED)
        sent = {event["id"] for event in relay.events}
        assert sent & {score.event_id for score in scores} == {scores[-1].event_id}
        assert [outbox.row(score).state for score in scores[:-1]] == [SUPERSEDED] * 99


@virtual_time
async def test_a_relay_down_while_alice_posts_a_hundred_scores_gets_one() -> None:
    outbox = MemoryOutbox()
    async with FakeRelay(on_accept=lambda peer: peer.reset()) as relay:
        async with make_engine(outbox, relay.url):
            scores = [make_delivery(relay.url, name="alice", created_at=1_000 + n) for n in range(100)]
            for score in scores:
                outbox.add(score)
                await asyncio.sleep(0.1)
            relay.on_accept = nothing
            await outbox.until_state(scores[-1], ACCEPTED)
        assert [event["id"] for event in relay.events] == [scores[-1].event_id]


@virtual_time
async def test_what_another_process_enqueued_is_found_within_seconds() -> None:
    outbox = MemoryOutbox()
    loop = asyncio.get_running_loop()
    async with FakeRelay() as relay, connected(relay, outbox):
        await asyncio.sleep(600)
        outbox.add(delivery := make_delivery(relay.url))
        before = loop.time()
        await outbox.until_state(delivery, ACCEPTED)
        assert loop.time() - before < 2.5


@virtual_time
async def test_a_retry_comes_when_it_is_due_and_within_a_second_at_first() -> None:
    outbox = MemoryOutbox()
    loop = asyncio.get_running_loop()
    times: list[float] = []

    def failing(peer: Peer, event: Event) -> None:
        times.append(loop.time())
        peer.send("OK", event["id"], len(times) > 2, "" if len(times) > 2 else "error: try again")

    async with FakeRelay(on_event=failing) as relay, connected(relay, outbox):
        outbox.add(delivery := make_delivery(relay.url))
        await outbox.until_state(delivery, ACCEPTED)
        assert 0.75 <= times[1] - times[0] < 0.8
        assert 1.5 <= times[2] - times[1] < 1.6


@virtual_time
async def test_a_failing_outbox_stops_nothing_for_good() -> None:
    outbox = MemoryOutbox()
    async with FakeRelay() as relay, connected(relay, outbox) as engine:
        outbox.faults = [OSError("database is locked")] * 20
        dispatch(engine, outbox, *(make_delivery(relay.url, number) for number in range(10)))
        outbox.add(*(make_delivery(relay.url, number) for number in range(10, 20)))
        await outbox.until(lambda: outbox.count(ACCEPTED) == 20)
        assert len(relay.events) == 20


@virtual_time
async def test_a_store_that_cannot_tell_is_asked_again_about_a_replaced_event() -> None:
    outbox = MemoryOutbox()
    async with FakeRelay(on_event=ok(False, "replaced: newer")) as relay, connected(relay, outbox) as engine:
        delivery = make_delivery(relay.url)
        outbox.newer.add(delivery.event_id)
        outbox.faults = [OSError("database is locked")] * 3
        dispatch(engine, outbox, delivery)
        await outbox.until_state(delivery, SUPERSEDED)
        assert len(relay.events) == 1


@virtual_time
async def test_a_rate_limited_relay_is_not_pestered() -> None:
    outbox = MemoryOutbox()
    loop = asyncio.get_running_loop()
    minutes: Counter[int] = Counter()

    def sixty_a_minute(peer: Peer, event: Event) -> None:
        minute = int(loop.time() // 60)
        minutes[minute] += 1
        good = minutes[minute] <= 60
        peer.send("OK", event["id"], good, "" if good else "rate-limited: slow down")

    async with FakeRelay(on_event=sixty_a_minute) as relay:
        outbox.add(*(make_delivery(relay.url, number) for number in range(300)))
        async with connected(relay, outbox):
            await outbox.until(lambda: outbox.count(ACCEPTED) == 300)
        assert loop.time() - relay.attempts[0] < 15 * 60
        # In a minute 60 are accepted, each of which widens the window by one, and a window may be on its way
        # when the relay begins to refuse. Then it gets one after each pause, of 1, 2, 4, 8, 16, 32 s or so.
        assert max(minutes.values()) <= 60 + (FIRST_WINDOW + 60) + 7
        assert len(relay.attempts) == 1


@virtual_time
async def test_a_relay_that_does_not_read_is_sent_no_more() -> None:
    outbox = MemoryOutbox()
    async with FakeRelay() as relay, connected(relay, outbox) as engine:
        relay.peers[0].transport.pause_reading()
        for number in range(FIRST_WINDOW * 3):
            delivery = make_delivery(relay.url, number)
            padded = delivery.payload.replace(", ", "," + " " * 60_000, 1)
            outbox.add(delivery._replace(payload=padded))
        await asyncio.sleep(30)
        assert sum(len(row.history) for row in outbox.rows.values()) == FIRST_WINDOW
        await asyncio.sleep(30)
        assert engine.status()[0].last_error == "no pong within 20 s"
        relay.peers[0].transport.resume_reading()
        await outbox.until(lambda: outbox.count(ACCEPTED) == FIRST_WINDOW * 3)


@pytest.mark.parametrize("on_event", [store, nothing, resetting], ids=["good", "silent", "resetting"])
@virtual_time
async def test_stopping_takes_less_than_five_seconds_and_leaves_nothing_held(on_event: object) -> None:
    outbox = MemoryOutbox()
    loop = asyncio.get_running_loop()
    async with FakeRelay(on_event=on_event) as relay:
        outbox.add(*(make_delivery(relay.url, number) for number in range(2_500)))
        engine = make_engine(outbox, relay.url)
        async with engine:
            await relay.until(lambda: len(relay.events) >= 20)
            leaving = loop.time()
        assert loop.time() - leaving < 5
        assert not any(row.held for row in outbox.rows.values())
        dispatched = make_delivery(relay.url, 9_999)
        outbox.add(dispatched, held=True)
        assert engine.accepting() == frozenset()


@virtual_time
async def test_stopping_with_an_outbox_that_is_gone() -> None:
    outbox = MemoryOutbox()
    loop = asyncio.get_running_loop()
    async with FakeRelay() as relay:
        async with connected(relay, outbox) as engine:
            outbox.faults = [OSError("disk full")] * 1_000
            dispatch(engine, outbox, make_delivery(relay.url))
            await relay.until(lambda: len(relay.events) == 1)
            leaving = loop.time()
        assert loop.time() - leaving < 5


@virtual_time
async def test_stopping_during_a_handshake_that_never_ends() -> None:
    loop = asyncio.get_running_loop()
    async with FakeRelay(on_handshake=nothing) as relay:
        async with make_engine(MemoryOutbox(), relay.url):
            await relay.until(lambda: relay.open_sockets == 1)
            leaving = loop.time()
        assert loop.time() - leaving < 5
        await relay.until(lambda: relay.open_sockets == 0)
