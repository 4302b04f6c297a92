from __future__ import annotations

import asyncio
import logging
import os
import signal
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from app.child.process import ChildFailed, ChildProcess
from app.delivery import judging
from app.delivery.judge import Candidate, Finding, Unproved, looks_right
from app.delivery.judging import BULK, Judging
from app.nostr.keys import SecretKey
from app.scores.score_event import sign_score

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

SECRET = SecretKey.parse(f"{2:064x}")
MANY = BULK + 500


def candidates(count: int) -> list[Candidate]:
    """Every seventh is forged."""
    made = []
    for n in range(count):
        event = sign_score(SECRET, username=f"p{n}", score=n % 121, created_at=n)
        candidate = looks_right(event.to_json().encode(), frozenset({SECRET.pubkey}))
        assert candidate is not None
        record = candidate.record[::-1] if n % 7 == 0 else candidate.record
        made.append(candidate._replace(record=record))
    return made


MADE = candidates(MANY)


class Relay:
    trusted = True

    def __init__(self) -> None:
        self.heard: list[Finding | None] = []
        self.all = asyncio.Event()

    def judged(self, finding: Finding | None) -> None:
        self.heard.append(finding)
        if len(self.heard) % MANY == 0:
            self.all.set()


class Setting:
    def __init__(self) -> None:
        self.found: list[Finding] = []
        self.relay = Relay()
        self.judging = Judging(lambda candidate: True, self.found.extend)

    def is_right(self) -> bool:
        good = {one.event_id for one in self.found if not isinstance(one, Unproved)}
        forged = [one for one in self.found if isinstance(one, Unproved)]
        return good == {one.event_id for n, one in enumerate(MADE) if n % 7} and len(forged) == -(-MANY // 7)


@asynccontextmanager
async def running(processes: int) -> AsyncIterator[Setting]:
    here = Setting()
    here.judging._processes = processes
    task = asyncio.create_task(here.judging.run())
    yield here
    task.cancel()
    await asyncio.gather(task, return_exceptions=True)


@pytest.mark.parametrize(("processes", "expected"), [(1, 0), (2, 2)])
async def test_many_are_judged_alike_here_and_in_processes(
    started: list[ChildProcess], processes: int, expected: int
) -> None:
    async with running(processes) as here:
        here.judging.offer(here.relay, MADE)
        await asyncio.wait_for(here.relay.all.wait(), 20)
        assert here.is_right()
        assert len(started) == expected
        assert len(here.judging) == 0


async def test_processes_end_when_nothing_more_comes(
    started: list[ChildProcess], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(judging, "LINGER_SECONDS", 0.0)
    async with running(2) as here:
        here.judging.offer(here.relay, MADE)
        await asyncio.wait_for(here.relay.all.wait(), 20)
        for process in started:
            await process._process.wait()
        assert len(started) == 2
        assert here.is_right()


async def test_a_process_that_dies_loses_nothing(
    started: list[ChildProcess], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    receive = ChildProcess.receive

    async def killed(self: ChildProcess) -> bytes:
        self._process.kill()
        await self._process.wait()
        raise ChildFailed("killed") from None

    answers = iter([receive, killed])

    async def answer(self: ChildProcess) -> bytes:
        return await next(answers, receive)(self)

    monkeypatch.setattr(ChildProcess, "receive", answer)
    with caplog.at_level(logging.WARNING):
        async with running(2) as here:
            here.judging.offer(here.relay, MADE)
            await asyncio.wait_for(here.relay.all.wait(), 20)
            assert here.is_right()
    assert "killed; signatures are checked in this process from now on" in caplog.text


async def test_a_process_that_is_stopped_holds_up_nothing(
    started: list[ChildProcess], monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("app.child.process.ANSWER_SECONDS", 0.5)
    send = ChildProcess.send

    def stopped_first(self: ChildProcess, message: bytes) -> None:
        if self is started[0]:
            os.kill(self.pid, signal.SIGSTOP)
        send(self, message)

    monkeypatch.setattr(ChildProcess, "send", stopped_first)
    with caplog.at_level(logging.WARNING):
        async with running(2) as here:
            here.judging.offer(here.relay, MADE)
            await asyncio.wait_for(here.relay.all.wait(), 20)
            assert here.is_right()
    assert "did not answer within 0.5 s; signatures are checked in this process from now on" in caplog.text
    assert all(process._process.returncode is not None for process in started)


async def test_no_processes_to_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    async with running(2) as here:
        here.judging.offer(here.relay, MADE)
        await asyncio.wait_for(here.relay.all.wait(), 20)
        assert here.is_right()
