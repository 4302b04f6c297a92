import asyncio

import pytest

from app.delivery.model import DeliveryState, Outcome
from app.delivery.watch import Watches
from tests.relays.virtual_time import virtual_time

ONE, TWO = "ws://one", "ws://two"


def outcome(relay: str, state: DeliveryState, *, answered: bool) -> Outcome:
    due = 0.0 if state is DeliveryState.PENDING else None
    return Outcome("id", relay, state, "", 1, due, answered)


@virtual_time
async def test_done_when_every_relay_has_answered_and_no_sooner() -> None:
    watches = Watches()
    watch = watches.add("id", [ONE, TWO])
    waiting = asyncio.ensure_future(watch.wait(30))
    watches.recorded(outcome(ONE, DeliveryState.ACCEPTED, answered=True))
    await asyncio.sleep(1)
    assert not waiting.done()
    watches.recorded(outcome(TWO, DeliveryState.PENDING, answered=False))  # the connection was lost
    await asyncio.sleep(1)
    assert not waiting.done()
    watches.recorded(outcome(TWO, DeliveryState.PENDING, answered=True))  # error: or rate-limited:
    await asyncio.sleep(1)
    assert waiting.done()


@pytest.mark.parametrize("relays", [[], [ONE]])
@virtual_time
async def test_nothing_to_wait_for(relays: list[str]) -> None:
    watches = Watches()
    watch = watches.add("id", relays)
    for relay in relays:  # recorded before anyone waits
        watches.recorded(outcome(relay, DeliveryState.SUPERSEDED, answered=False))
    before = asyncio.get_running_loop().time()
    await watch.wait(30)
    assert asyncio.get_running_loop().time() - before < 1


@virtual_time
async def test_the_timeout_is_no_error_and_leaves_nothing_behind() -> None:
    watches = Watches()
    loop = asyncio.get_running_loop()
    first, second = watches.add("id", [ONE]), watches.add("id", [ONE])
    before = loop.time()
    await first.wait(3)
    assert loop.time() - before == pytest.approx(3)
    second.cancel()
    second.cancel()
    assert not watches._watches


@virtual_time
async def test_two_watches_on_one_event() -> None:
    watches = Watches()
    both = [watches.add("id", [ONE]) for _ in range(2)]
    watches.recorded(outcome(ONE, DeliveryState.ACCEPTED, answered=True))
    await asyncio.gather(*(watch.wait(30) for watch in both))
    assert asyncio.get_running_loop().time() < 1_001
