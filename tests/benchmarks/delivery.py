"""How fast a backlog drains, as a share of what a bare `websockets` loop pipelining the same events reaches.

`python -m tests.benchmarks.delivery [--rounds 5]`: rounds are interleaved, medians are ratios. Relays are a
bare loopback one and nostr-sdk's. Then a backlog that nostr-sdk's relay interrupts is delivered whole, and a
good relay's time to answer is measured while others misbehave.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

import uvloop
from nostr_sdk import Keys
from websockets.asyncio.client import connect

from app.delivery.engine import Engine
from app.delivery.model import Delivery, DeliveryState, Outcome
from tests.delivery.outbox import make_delivery
from tests.relays.bare import bare_relay
from tests.relays.events import signed_delivery
from tests.relays.fake import FakeRelay, Peer, closing, never, nothing, store
from tests.relays.real import rust_relay

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Sequence

    from tests.relays.fake import Event

BARE_BACKLOG = 20_000
RUST_BACKLOG = 5_000  # below the 6,000 messages a minute at which that relay drops the connection
WHOLE_BACKLOG = 20_000
LATENCY_SAMPLES = 300


class Backlog:
    """The least outbox: hands out deliveries in order, takes back the pending, counts the accepted."""

    def __init__(self, deliveries: list[Delivery]) -> None:
        self._deliveries = {delivery.event_id: delivery for delivery in deliveries}
        self._left = deliveries[::-1]
        self._missing = set(self._deliveries)
        self.records = 0
        self.done = asyncio.Event()

    async def claim(self, relay: str, *, now: float, limit: int) -> list[Delivery]:
        taken = self._left[: -limit - 1 : -1]
        del self._left[-limit:]
        return taken

    async def record(self, outcomes: Sequence[Outcome]) -> None:
        self.records += 1
        for outcome in outcomes:
            if outcome.state is DeliveryState.ACCEPTED:
                self._missing.discard(outcome.event_id)
            elif outcome.event_id in self._missing:
                self._left.append(self._deliveries[outcome.event_id])
        if not self._missing:
            self.done.set()

    async def has_newer(self, event_id: str) -> bool:
        return False

    async def adopt(self, relay: str, event: object) -> bool:
        return False

    async def reached(self, relay: str, *, connected: bool) -> None:
        """Whether a relay is up is nobody's business here."""


async def drain(deliveries: list[Delivery], relay: str) -> tuple[float, float]:
    """Wall and CPU seconds of the engine, CPU of this process alone."""
    outbox = Backlog(deliveries)
    wall, cpu = time.perf_counter(), time.thread_time()
    async with Engine([relay], outbox, sign_auth=lambda relay, challenge: None):
        await outbox.done.wait()
        return time.perf_counter() - wall, time.thread_time() - cpu


async def bare_loop(deliveries: list[Delivery], relay: str) -> tuple[float, float]:
    """The same for a loop that sends everything and counts the answers, on `websockets` itself."""
    wall, cpu = time.perf_counter(), time.thread_time()
    async with connect(relay, compression=None) as socket:

        async def send() -> None:
            for delivery in deliveries:
                await socket.send(f'["EVENT",{delivery.payload}]')

        sending = asyncio.create_task(send())
        for _ in deliveries:
            await socket.recv()
        await sending
        return time.perf_counter() - wall, time.thread_time() - cpu


Run = "Callable[[], Awaitable[tuple[float, float]]]"


def compare(name: str, count: int, rounds: int, engine: Run, bare: Run) -> None:
    """Interleave rounds of both and print the median ratio."""
    ratios, costs = [], []
    for _ in range(rounds):
        wall, cpu = uvloop.run(engine())
        bare_wall, bare_cpu = uvloop.run(bare())
        ratios.append(bare_wall / wall)
        costs.append(cpu / count * 1e6)
        print(
            f"  engine {count / wall:7.0f}/s {cpu / count * 1e6:5.1f} us CPU each,"
            f" bare loop {count / bare_wall:7.0f}/s {bare_cpu / count * 1e6:5.1f} us"
        )
    print(
        f"{name}: {statistics.median(ratios):.2f} of the bare loop (wanted: 0.6 or more),"
        f" {statistics.median(costs):.1f} us CPU per delivery"
    )


def drain_bare_relay(rounds: int) -> None:
    with ExitStack() as stack:
        relay = stack.enter_context(bare_relay())
        deliveries = [make_delivery(relay, number) for number in range(BARE_BACKLOG)]
        compare(
            "bare relay",
            BARE_BACKLOG,
            rounds,
            lambda: drain(deliveries, relay),
            lambda: bare_loop(deliveries, relay),
        )


def drain_rust_relay(rounds: int) -> None:
    """Each run on a fresh relay and with the same events, so that none is a duplicate."""
    keys = Keys.generate()
    signed = [signed_delivery(keys, "", f"player{number}") for number in range(RUST_BACKLOG)]

    async def on_fresh_relay(
        run: Callable[[list[Delivery], str], Awaitable[tuple[float, float]]],
    ) -> tuple[float, float]:
        async with rust_relay() as relay:
            return await run([_to(relay, delivery) for delivery in signed], relay)

    compare(
        "nostr-sdk's relay",
        RUST_BACKLOG,
        rounds,
        lambda: on_fresh_relay(drain),
        lambda: on_fresh_relay(bare_loop),
    )


async def drain_rust_relay_whole() -> None:
    keys = Keys.generate()
    async with rust_relay() as relay:
        deliveries = [signed_delivery(keys, relay, f"player{number}") for number in range(WHOLE_BACKLOG)]
        outbox = Backlog(deliveries)
        started = time.perf_counter()
        async with Engine([relay], outbox, sign_auth=lambda relay, challenge: None) as engine:
            await outbox.done.wait()
            [status] = engine.status()
        print(
            f"nostr-sdk's relay, {WHOLE_BACKLOG} in all: every one accepted in"
            f" {time.perf_counter() - started:.1f} s over {status.tally.connects} connections"
        )


def _to(relay: str, delivery: Delivery) -> Delivery:
    return Delivery(delivery.event_id, relay, delivery.address, delivery.created_at, delivery.payload)


def _flooding(peer: Peer, event: Event) -> None:
    peer.send_text(*["[]"] * 5_000)


async def latency(relay: str, others: list[FakeRelay]) -> float:
    """Median milliseconds from dispatch to the recorded answer of a good relay."""
    outbox = Backlog([])
    urls = [relay, *(other.url for other in others)]
    times = []
    async with Engine(urls, outbox, sign_auth=lambda relay, challenge: None) as engine:
        await asyncio.sleep(0.5)
        assert relay in engine.accepting()
        for number in range(LATENCY_SAMPLES):
            deliveries = [make_delivery(url, number) for url in urls if url in engine.accepting()]
            watch = engine.watch(deliveries[0].event_id, [relay])
            started = time.perf_counter()
            engine.dispatch(deliveries)
            await watch.wait(10)
            times.append(time.perf_counter() - started)
            await asyncio.sleep(0.002)
    return statistics.median(times) * 1e3


async def misbehaving_neighbours(relay: str) -> tuple[float, float]:
    """The latency alone, and beside five relays that misbehave (they run in a thread of their own)."""
    alone = await latency(relay, [])
    scripts = [
        {"on_event": nothing},
        {"on_event": _flooding},
        {"on_event": closing(1011)},
        {"on_handshake": never},
        {"on_event": store, "pong": False},
    ]
    loop = asyncio.new_event_loop()
    serving = asyncio.get_running_loop().run_in_executor(None, loop.run_forever)
    others = [FakeRelay(**script) for script in scripts]
    for other in others:
        asyncio.run_coroutine_threadsafe(other.__aenter__(), loop).result()
    beside = await latency(relay, others)
    for other in others:
        asyncio.run_coroutine_threadsafe(other.stop(), loop).result()
    loop.call_soon_threadsafe(loop.stop)
    await serving
    loop.close()
    return alone, beside


def isolation(rounds: int) -> None:
    with bare_relay() as relay:
        ratios = []
        for _ in range(rounds):
            alone, beside = uvloop.run(misbehaving_neighbours(relay))
            ratios.append(beside / alone)
            print(f"  median answer after {alone:.2f} ms alone, {beside:.2f} ms beside misbehaving relays")
        print(f"good relay beside five bad ones: {statistics.median(ratios):.2f} of its latency alone")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    drain_bare_relay(rounds)
    drain_rust_relay(rounds)
    asyncio.run(drain_rust_relay_whole())
    isolation(min(rounds, 3))


if __name__ == "__main__":
    main()
