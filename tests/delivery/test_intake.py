import asyncio
import math

from app.delivery.intake import POLL_SECONDS, SLACK_SECONDS, Intake
from tests.delivery.outbox import MemoryOutbox, make_delivery
from tests.relays.virtual_time import virtual_time

RELAY = "ws://relay"


def make_intake(outbox: MemoryOutbox) -> Intake:
    return Intake(RELAY, outbox, clock=asyncio.get_running_loop().time, random=lambda: 0.0)


@virtual_time
async def test_a_full_claim_means_a_backlog_and_no_wait() -> None:
    outbox = MemoryOutbox()
    outbox.add(*(make_delivery(RELAY, number) for number in range(5)))
    intake = make_intake(outbox)
    assert intake.wait() == 0
    assert len(await intake.claim(3)) == 3
    assert (intake.backlog, intake.wait()) == (True, 0)
    assert len(await intake.claim(3)) == 2
    assert not intake.backlog
    assert math.isclose(intake.wait(), POLL_SECONDS)


@virtual_time
async def test_a_due_time_shortens_the_wait_and_never_lengthens_it() -> None:
    intake = make_intake(MemoryOutbox())
    await intake.claim(1)
    now = asyncio.get_running_loop().time()
    assert intake.due_by(now + 1)
    assert math.isclose(intake.wait(), 1 + SLACK_SECONDS)
    assert not intake.due_by(now + 1.5)
    assert math.isclose(intake.wait(), 1 + SLACK_SECONDS)


@virtual_time
async def test_an_outbox_that_fails_is_left_alone_longer_each_time() -> None:
    outbox = MemoryOutbox()
    outbox.add(delivery := make_delivery(RELAY))
    outbox.faults = [OSError("disk full")] * 4
    intake = make_intake(outbox)
    waits = []
    for _ in range(3):
        assert await intake.claim(1) == []
        intake.due_by(0.0)
        waits.append(intake.wait())
    assert waits == [0.5, 1, 2]
    assert await intake.has_newer("id") is None
    assert intake.wait() == 4
    await asyncio.sleep(4)
    assert await intake.claim(1) == [delivery]
    outbox.faults = [OSError("disk full")]
    assert await intake.claim(1) == []
    intake.due_by(0.0)
    assert intake.wait() == 0.5


@virtual_time
async def test_a_clock_that_is_set_back_delays_no_claim() -> None:
    loop = asyncio.get_running_loop()
    shift = 0.0
    intake = Intake(RELAY, MemoryOutbox(), clock=lambda: loop.time() + shift, random=lambda: 0.0)
    await intake.claim(1)
    shift = -3_600.0
    assert intake.wait() <= POLL_SECONDS
    assert intake.due_by(loop.time() + shift + 0.5)
    assert math.isclose(intake.wait(), 0.5 + SLACK_SECONDS)
