"""Whatever a relay and the store do, in whatever order: every delivery ends accepted, none without reason."""

from __future__ import annotations

import asyncio

from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.delivery.engine import Engine
from app.delivery.held import LIMIT
from app.delivery.model import DeliveryState
from tests.delivery.outbox import MemoryOutbox, make_delivery
from tests.relays.fake import Event, FakeRelay, Peer, closing, nothing, ok, resetting, store
from tests.relays.virtual_time import VirtualTimeLoop

DELIVERIES = 40


def late(peer: Peer, event: Event) -> None:
    """Keep the event, and say so only when nobody waits any more."""
    peer.relay.stored[event["id"]] = event
    asyncio.get_running_loop().call_later(11, peer.send, "OK", event["id"], True, "")


def kept_and_reset(peer: Peer, event: Event) -> None:
    """Keep the event, and be gone before saying so."""
    peer.relay.stored[event["id"]] = event
    peer.reset()


def other_id(peer: Peer, event: Event) -> None:
    peer.send("OK", "00" * 32, True, "")


def flood(peer: Peer, event: Event) -> None:
    peer.send_text(*["[]"] * 400)


BEHAVIOURS = {
    "stores": store,
    "is silent": nothing,
    "resets": resetting,
    "keeps and resets": kept_and_reset,
    "closes": closing(1011),
    "answers late": late,
    "fails": ok(False, "error: busy"),
    "limits its rate": ok(False, "rate-limited: slow down"),
    "names another id": other_id,
    "floods": flood,
}


@settings(max_examples=100, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(
    behaviours=st.lists(st.sampled_from(sorted(BEHAVIOURS)), max_size=30),
    faults=st.lists(st.integers(0, 200), max_size=5),
    restart_after=st.none() | st.floats(0.1, 60),
)
def test_nothing_is_lost(behaviours: list[str], faults: list[int], restart_after: float | None) -> None:
    async def run() -> None:
        loop = asyncio.get_running_loop()
        left = list(behaviours)

        def on_event(peer: Peer, event: Event) -> None:
            BEHAVIOURS[left.pop(0) if left else "stores"](peer, event)

        outbox = MemoryOutbox()
        for seconds in faults:
            loop.call_later(seconds, outbox.faults.append, OSError("disk full"))
        async with FakeRelay(on_event=on_event) as relay:
            deliveries = [make_delivery(relay.url, number) for number in range(DELIVERIES)]
            outbox.add(*deliveries)
            engines = [
                Engine([relay.url], outbox, sign_auth=lambda *_: None, clock=loop.time, rng=lambda: 0.5)
                for _ in range(2)
            ]
            if restart_after is not None:
                async with engines[0]:
                    await asyncio.sleep(restart_after)
                outbox.release()  # the store frees what a process that is gone has held
            async with engines[1], asyncio.timeout(24 * 3600):
                await outbox.until(lambda: outbox.count(DeliveryState.ACCEPTED) == DELIVERIES)
            assert set(relay.raw) <= {delivery.payload for delivery in deliveries}
            assert relay.stored.keys() == {delivery.event_id for delivery in deliveries}
            assert relay.peak_sockets == 1
            assert not any(row.held for row in outbox.rows.values())
            workers = [worker for engine in engines for worker in engine._workers.values()]
            assert all(worker._held.room == LIMIT for worker in workers) or faults

    with asyncio.Runner(loop_factory=VirtualTimeLoop) as runner:
        runner.run(run())
