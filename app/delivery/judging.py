"""Checking signatures beside the event loop: a few at a time on it, many in processes of their own."""

from __future__ import annotations

import asyncio
import logging
import os
from collections import deque
from contextlib import AsyncExitStack
from typing import TYPE_CHECKING

from app.child.aside import set_soon
from app.child.process import ChildFailed, ChildProcess
from app.delivery.docket import Case, Docket, Source
from app.delivery.judge import Candidate, Finding, finding
from app.nostr.signature import record_holds

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Sequence

BULK = 2000
"""So many at once repay starting processes."""

MOST_PROCESSES = 4
"""More of them would wait for the one that parses what relays send."""

CHUNK = 500
IN_FLIGHT = 3
"""Chunks that a process has at once, so that it need not wait for the next one."""

TURN = 16
"""Signatures checked on the event loop before others get their turn: about a millisecond."""

LINGER_SECONDS = 1.0
"""Processes end when nothing came for so long."""

logger = logging.getLogger(__name__)


class Judging:
    """Judges what is offered, in about the order it came.

    Attributes:
        is_news: Whether a candidate would change anything now, if its signature held.
    """

    def __init__(
        self,
        matters: Callable[[Candidate], bool],
        found: Callable[[Sequence[Finding]], None],
    ) -> None:
        """`found` hears of findings before their sources do."""
        self.is_news = matters
        self._found = found
        self._docket = Docket(matters)
        self._offered = asyncio.Event()
        self._processes = _cores()

    def __len__(self) -> int:
        return len(self._docket)

    def offer(self, source: Source, candidates: Sequence[Candidate]) -> None:
        """Take candidates; their source is told of each when it is done with."""
        self._docket.add(source, candidates)
        self._offered.set()

    async def run(self) -> None:
        """Judge until cancelled."""
        while True:
            await self._offered.wait()
            self._offered.clear()
            while self._docket:
                if len(self._docket) >= BULK and self._processes > 1:
                    await self._judge_in_processes()
                else:
                    self._judge_here()
                    await asyncio.sleep(0)

    def _judge_here(self) -> None:
        cases = self._docket.take(TURN)
        self._settle(cases, [record_holds(candidate.record) for _, candidate in cases])

    async def _judge_in_processes(self) -> None:
        try:
            async with AsyncExitStack() as stack, asyncio.TaskGroup() as group:
                for _ in range(self._processes):
                    process = await ChildProcess.start("app.delivery.judge_main")
                    stack.push_async_callback(process.stop)
                    group.create_task(self._feed(process))
        except* ChildFailed as errors:
            reason = errors.exceptions[0]
            logger.warning("%s; signatures are checked in this process from now on", reason)
            self._processes = 1

    async def _feed(self, process: ChildProcess) -> None:
        """Feed a process as long as there is something to judge."""
        flying: deque[list[Case]] = deque()
        try:
            while True:
                while len(flying) < IN_FLIGHT and (cases := self._docket.take(CHUNK)):
                    flying.append(cases)
                    process.send(b"".join([candidate.record for _, candidate in cases]))
                if flying:
                    answers = await process.receive()
                    self._settle(flying.popleft(), answers)
                elif not await set_soon(self._offered, LINGER_SECONDS):
                    return
        finally:
            while flying:
                self._docket.put_back(flying.pop())

    def _settle(self, cases: Sequence[Case], answers: Iterable[object]) -> None:
        findings = [finding(case[1], holds) for case, holds in zip(cases, answers, strict=True)]
        self._found(findings)
        self._docket.settled(cases, findings)


def _cores() -> int:
    here = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1
    return min(here, MOST_PROCESSES)
