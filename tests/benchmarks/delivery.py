"""How fast a backlog drains, as a share of what a bare `websockets` loop pipelining the same events reaches.

`python -m tests.benchmarks.delivery [--rounds 5]`: rounds of both are interleaved, medians printed as ratios.
"""

from __future__ import annotations

import argparse
import asyncio
import statistics
import time
from contextlib import ExitStack
from typing import TYPE_CHECKING

import uvloop
from websockets.asyncio.client import connect

from app.delivery.engine import Engine
from app.delivery.model import Delivery, DeliveryState, Outcome
from tests.delivery.outbox import make_delivery
from tests.relays.bare import bare_relay

if TYPE_CHECKING:
    from collections.abc import Sequence

BACKLOG = 20_000


class Backlog:
    """The least outbox: hands out deliveries in order and counts what is accepted."""

    def __init__(self, deliveries: list[Delivery]) -> None:
        self._left = deliveries[::-1]
        self._missing = len(deliveries)
        self.records = 0
        self.done = asyncio.Event()

    async def claim(self, relay: str, *, now: float, limit: int) -> list[Delivery]:
        taken = self._left[: -limit - 1 : -1]
        del self._left[-limit:]
        return taken

    async def record(self, outcomes: Sequence[Outcome]) -> None:
        self.records += 1
        self._missing -= sum(outcome.state is DeliveryState.ACCEPTED for outcome in outcomes)
        if not self._missing:
            self.done.set()

    async def has_newer(self, event_id: str) -> bool:
        return False


async def drain(deliveries: list[Delivery], relay: str) -> tuple[float, float, int]:
    """Wall seconds, CPU seconds and record calls of the engine."""
    outbox = Backlog(deliveries)
    wall, cpu = time.perf_counter(), time.process_time()
    async with Engine([relay], outbox, sign_auth=lambda relay, challenge: None):
        await outbox.done.wait()
        return time.perf_counter() - wall, time.process_time() - cpu, outbox.records


async def bare_loop(deliveries: list[Delivery], relay: str) -> tuple[float, float, int]:
    """The same for a loop that sends everything and then counts the answers, on `websockets` itself."""
    wall, cpu = time.perf_counter(), time.process_time()
    async with connect(relay, compression=None) as socket:

        async def send() -> None:
            for delivery in deliveries:
                await socket.send(f'["EVENT",{delivery.payload}]')

        sending = asyncio.create_task(send())
        for _ in deliveries:
            await socket.recv()
        await sending
        return time.perf_counter() - wall, time.process_time() - cpu, 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    rounds = parser.parse_args().rounds
    with ExitStack() as stack:
        relay = stack.enter_context(bare_relay())
        deliveries = [make_delivery(relay, number) for number in range(BACKLOG)]
        ratios, costs = [], []
        for _ in range(rounds):
            wall, cpu, records = uvloop.run(drain(deliveries, relay))
            bare_wall, bare_cpu, _ = uvloop.run(bare_loop(deliveries, relay))
            ratios.append(bare_wall / wall)
            costs.append(cpu / BACKLOG * 1e6)
            print(
                f"engine {BACKLOG / wall:8.0f}/s {cpu / BACKLOG * 1e6:5.1f} us CPU, {records} records;"
                f" bare loop {BACKLOG / bare_wall:8.0f}/s {bare_cpu / BACKLOG * 1e6:5.1f} us CPU;"
                f" ratio {bare_wall / wall:.2f}"
            )
        print(
            f"bare relay: {statistics.median(ratios):.2f} of the bare loop (at least 0.6 wanted),"
            f" {statistics.median(costs):.1f} us CPU per delivery"
        )


if __name__ == "__main__":
    main()
