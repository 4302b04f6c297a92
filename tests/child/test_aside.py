from __future__ import annotations

import asyncio
import logging
import os
import signal
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from app.child import aside
from app.child.aside import Aside

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from app.child.process import ChildProcess


def here(message: bytes) -> bytes:
    """What answers on a thread; the process answers `from:` and the message."""
    if message == b"wrong":
        raise ValueError(message)
    return b"thread:" + message


@pytest_asyncio.fixture(name="work")
async def work_fixture() -> AsyncIterator[Aside]:
    work = Aside(here, "tests.child.echo", "from")
    yield work
    await work.close()


async def test_one_process_answers_from_the_first_message_on(
    work: Aside, started: list[ChildProcess]
) -> None:
    await asyncio.sleep(0)
    assert started == []
    messages = [b"%d" % number for number in range(50)]
    answers = await asyncio.gather(*map(work.ask, messages))
    assert answers == [b"from:" + message for message in messages]
    assert await work.ask(b"again") == b"from:again"
    assert len(started) == 1


async def test_the_process_ends_when_nobody_asks_and_another_comes(
    work: Aside, started: list[ChildProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(aside, "LINGER_SECONDS", 0.0)
    assert await work.ask(b"one") == b"from:one"
    await started[0]._process.wait()
    assert await work.ask(b"two") == b"from:two"
    assert len(started) == 2


@pytest.mark.parametrize(("seconds", "then"), [(60.0, b"thread"), (0.0, b"from")])
async def test_what_a_process_leaves_a_thread_does_and_later_another_process(
    work: Aside,
    started: list[ChildProcess],
    monkeypatch: pytest.MonkeyPatch,
    caplog: pytest.LogCaptureFixture,
    seconds: float,
    then: bytes,
) -> None:
    monkeypatch.setattr(aside, "AGAIN_SECONDS", seconds)
    with caplog.at_level(logging.WARNING):
        answers = await asyncio.gather(*map(work.ask, (b"one", b"end", b"two", b"three")))
        assert answers == [b"from:one", b"thread:end", then + b":two", then + b":three"]
        assert await work.ask(b"four") == then + b":four"
    assert [record.name for record in caplog.records].count("app.child.aside") == 1
    assert "tests.child.echo ended too soon" in caplog.text
    assert f"a thread does its work for {seconds:.0f} seconds" in caplog.text
    assert len(started) == (1 if then == b"thread" else 2)


async def test_a_process_that_is_stopped_keeps_nobody_waiting(
    work: Aside, started: list[ChildProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    assert await work.ask(b"1") == b"from:1"
    monkeypatch.setattr("app.child.process.ANSWER_SECONDS", 0.2)
    os.kill(started[0].pid, signal.SIGSTOP)
    assert await asyncio.gather(work.ask(b"2"), work.ask(b"3")) == [b"thread:2", b"thread:3"]
    assert started[0]._process.returncode == -signal.SIGKILL


@pytest.mark.parametrize("loop", ["asyncio", "uvloop"])
def test_a_process_that_died_while_nobody_asked(loop: str) -> None:
    """On uvloop, on which the service runs, its closed pipe is another matter than on asyncio's own loop."""

    async def kill_and_ask() -> list[bytes]:
        work = Aside(here, "tests.child.echo", "from")
        answers = [await work.ask(b"one")]
        assert work._process is not None
        os.kill(work._process.pid, signal.SIGKILL)
        await work._process._process.wait()
        answers += await asyncio.gather(*map(work.ask, (b"two", b"three", b"four")))
        await work.close()
        return answers

    with asyncio.Runner(loop_factory=pytest.importorskip(loop).new_event_loop) as runner:
        assert runner.run(kill_and_ask()) == [b"from:one", b"thread:two", b"thread:three", b"thread:four"]


async def test_no_process_to_be_had(
    work: Aside, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    with caplog.at_level(logging.WARNING):
        assert await work.ask(b"one") == b"thread:one"
        with pytest.raises(ValueError, match="wrong"):
            await work.ask(b"wrong")
        assert await work.ask(b"two") == b"thread:two"
    assert [record.name for record in caplog.records].count("app.child.aside") == 1


async def test_who_stops_waiting_takes_nothing_from_others(work: Aside) -> None:
    asking = [asyncio.create_task(work.ask(b"%d" % number)) for number in range(5)]
    await asyncio.sleep(0)
    asking[1].cancel()
    assert await asyncio.gather(*asking[2:]) == [b"from:2", b"from:3", b"from:4"]


async def test_close_ends_the_process_and_whoever_waits_for_it(started: list[ChildProcess]) -> None:
    work = Aside(here, "tests.child.echo")
    await work.ask(b"one")
    asking = [asyncio.create_task(work.ask(b"two")) for _ in range(5)]
    await asyncio.sleep(0)
    await work.close()
    ends = await asyncio.gather(*asking, return_exceptions=True)
    assert [type(end) for end in ends] == [asyncio.CancelledError] * 5
    with pytest.raises(ProcessLookupError):
        os.kill(started[0].pid, 0)
    with pytest.raises(RuntimeError, match="any more"):
        await work.ask(b"three")
