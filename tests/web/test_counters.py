"""Counters that replicas share, and what happens while Redis is away."""

from __future__ import annotations

import logging
import signal
from typing import TYPE_CHECKING

from app.config_values import rates
from app.web.counters import Counters
from tests.clock import Clock
from tests.web.redis_server import free_port, redis_server

if TYPE_CHECKING:
    import pytest

RATE = rates("3/minute")


async def test_a_process_counts_for_itself() -> None:
    clock = Clock(1000.0)
    counters = Counters(clock=clock)
    assert [await counters.hit(RATE, "a") for _ in range(3)] == [None] * 3
    clock.now += 20.5
    wait = await counters.hit(RATE, "a")
    assert wait == 40  # 39.5 are left, and whole seconds must be enough
    assert await counters.hit(RATE, "b") is None
    clock.now += wait
    assert await counters.hit(RATE, "a") is None


async def test_the_strictest_of_several_rates_counts() -> None:
    clock = Clock(1000.0)
    counters = Counters(clock=clock)
    several = rates("2/second;3/hour")
    assert [await counters.hit(several, "a") for _ in range(2)] == [None, None]
    assert await counters.hit(several, "a") == 1
    clock.now += 1
    assert await counters.hit(several, "a") is None
    clock.now += 1
    assert await counters.hit(several, "a") == 3598


async def test_replicas_share_a_redis() -> None:
    port = free_port()
    with redis_server(port, "--requirepass", "pass word"):
        url = f"redis://:pass%20word@127.0.0.1:{port}/3"
        one, other = Counters(url), Counters(url)
        assert [await one.hit(RATE, "a"), await other.hit(RATE, "a"), await one.hit(RATE, "a")] == [None] * 3
        for counters in (one, other):
            wait = await counters.hit(RATE, "a")
            assert wait is not None
            assert 55 <= wait <= 60
            await counters.close()


async def test_a_redis_that_is_away_stops_nobody(caplog: pytest.LogCaptureFixture) -> None:
    caplog.set_level(logging.INFO, "app")
    port = free_port()
    clock = Clock(1000.0)
    counters = Counters(f"redis://user:secret@127.0.0.1:{port}", clock)
    # The process counts for itself meanwhile, and says so once.
    assert [await counters.hit(RATE, "a") for _ in range(3)] == [None] * 3
    assert await counters.hit(RATE, "a") is not None
    assert [record.levelname for record in caplog.records] == ["ERROR"]
    assert "Redis does not answer, so this process counts calls alone" in caplog.text
    assert "secret" not in caplog.text
    with redis_server(port, "--user", "user", "on", ">secret", "~*", "+@all"):
        # Redis is asked again after a pause only.
        assert await counters.hit(RATE, "a") is not None
        clock.now += 5
        assert [await counters.hit(RATE, "a") for _ in range(3)] == [None] * 3
    assert [record.levelname for record in caplog.records] == ["ERROR", "WARNING"]
    assert "Redis answers again" in caplog.text
    assert [await counters.hit(RATE, "b") for _ in range(3)] == [None] * 3
    assert [record.levelname for record in caplog.records] == ["ERROR", "WARNING", "ERROR"]
    await counters.close()


async def test_a_redis_that_hangs_stops_nobody() -> None:
    port = free_port()
    with redis_server(port) as process:
        counters = Counters(f"redis://127.0.0.1:{port}", Clock(1000.0))
        assert await counters.hit(RATE, "a") is None
        process.send_signal(signal.SIGSTOP)
        assert [await counters.hit(RATE, "a") for _ in range(3)] == [None] * 3
        process.send_signal(signal.SIGCONT)
        await counters.close()


async def test_a_redis_that_started_anew_is_the_same_to_us(caplog: pytest.LogCaptureFixture) -> None:
    port = free_port()
    counters = Counters(f"redis://127.0.0.1:{port}")
    with redis_server(port):
        assert await counters.hit(RATE, "a") is None
    with redis_server(port):
        assert await counters.hit(RATE, "a") is None
    assert not caplog.records
    await counters.close()
