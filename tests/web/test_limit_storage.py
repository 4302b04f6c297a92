"""Counters in memory, through the library's own strategy."""

from __future__ import annotations

import asyncio
import time

from hypothesis import given
from hypothesis import strategies as st
from limits import parse
from limits.aio.strategies import FixedWindowRateLimiter

from app.web.limit_storage import LocalStorage
from tests.clock import Clock


@given(st.lists(st.tuples(st.sampled_from("ab"), st.floats(0, 9)), max_size=40))
def test_a_window_begins_with_the_first_call_and_holds_the_rate(calls: list[tuple[str, float]]) -> None:
    async def run() -> None:
        clock = Clock(1000.0)
        strategy = FixedWindowRateLimiter(LocalStorage(clock))
        windows: dict[str, list[float]] = {}  # begin, count
        for who, later in calls:
            clock.now += later
            window = windows.get(who)
            if window is None or clock.now >= window[0] + 10:
                window = windows[who] = [clock.now, 0]
            window[1] += 1
            assert await strategy.hit(parse("3/10 seconds"), who) == (window[1] <= 3)

    asyncio.run(run())


async def test_the_end_of_a_window_is_told_in_wall_time() -> None:
    clock = Clock(1000.0)
    strategy = FixedWindowRateLimiter(LocalStorage(clock))
    await strategy.hit(parse("3/minute"), "a")
    clock.now += 20
    stats = await strategy.get_window_stats(parse("3/minute"), "a")
    assert stats.remaining == 2
    assert abs(stats.reset_time - (time.time() + 40)) < 5


async def test_what_has_run_out_does_not_pile_up() -> None:
    clock = Clock(1000.0)
    storage = LocalStorage(clock)
    for number in range(10_000):
        clock.now += 1
        await storage.incr(str(number), 60)
    assert len(storage) <= 62


async def test_there_are_never_more_than_it_can_hold() -> None:
    storage = LocalStorage(Clock(1000.0), capacity=100)
    for number in range(1000):
        await storage.incr(str(number), 60)
    assert len(storage) <= 100
    assert await storage.get("999") == 1
    assert await storage.get("0") == 0


async def test_counters_can_be_forgotten() -> None:
    storage = LocalStorage(Clock(1000.0))
    await storage.incr("a", 60, 5)
    await storage.incr("b", 60)
    await storage.clear("a")
    assert (await storage.get("a"), await storage.get("b")) == (0, 1)
    assert await storage.reset() == 1
    assert await storage.get("b") == 0
    assert await storage.check()
