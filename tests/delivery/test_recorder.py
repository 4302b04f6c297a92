from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from app.delivery.model import DeliveryState, Outcome
from app.delivery.recorder import LINGER_SECONDS, Recorder
from tests.delivery.outbox import MemoryOutbox, make_delivery
from tests.relays.virtual_time import virtual_time

if TYPE_CHECKING:
    from collections.abc import Sequence

DELIVERIES = [make_delivery("ws://relay", number) for number in range(1_000)]


def accepted(number: int) -> Outcome:
    delivery = DELIVERIES[number]
    return Outcome(delivery.event_id, delivery.relay, DeliveryState.ACCEPTED, "", 1, None, answered=True)


@virtual_time
async def test_outcomes_are_written_together_and_confirmed_after_that() -> None:
    outbox, confirmed = MemoryOutbox(), []
    outbox.add(*DELIVERIES)

    def on_recorded(outcomes: Sequence[Outcome]) -> None:
        assert sum(outbox.records) == len(confirmed) + len(outcomes)
        confirmed.extend(outcomes)

    recorder = Recorder(outbox, on_recorded, random=lambda: 0.0)
    running = asyncio.ensure_future(recorder.run())
    for number in range(1_000):
        recorder.add(accepted(number))
    await recorder.flushed()
    assert outbox.records == [1_000]
    assert len(confirmed) == 1_000
    recorder.add(accepted(0))
    await asyncio.sleep(LINGER_SECONDS * 2)
    assert outbox.records == [1_000, 1]
    running.cancel()


@virtual_time
async def test_a_failing_outbox_loses_nothing() -> None:
    outbox, confirmed = MemoryOutbox(), []
    outbox.add(*DELIVERIES)
    outbox.faults = [OSError("disk full")] * 5
    recorder = Recorder(outbox, confirmed.extend, random=lambda: 0.0)
    running = asyncio.ensure_future(recorder.run())
    started = asyncio.get_running_loop().time()
    recorder.add(accepted(0))
    await asyncio.sleep(1)
    recorder.add(accepted(1))
    await recorder.flushed()
    assert outbox.records == [1, 1]
    assert [outcome.event_id for outcome in confirmed] == [d.event_id for d in DELIVERIES[:2]]
    waited = asyncio.get_running_loop().time() - started
    assert 15 < waited < 16.1  # 0.5 + 1 + 2 + 4 + 8
    running.cancel()
