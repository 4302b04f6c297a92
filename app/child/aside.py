"""Work that would hold the event loop up, done in a process, which does not share the interpreter."""

from __future__ import annotations

import asyncio
import logging
from collections import deque
from typing import TYPE_CHECKING

from app.child.process import ChildFailed, ChildProcess

if TYPE_CHECKING:
    from collections.abc import Callable

IN_FLIGHT = 2
"""Messages that the process has at once, so that it need not wait for the next one."""

LINGER_SECONDS = 30.0
"""The process ends when nothing came for so long."""

AGAIN_SECONDS = 60.0
"""So long after a process failed another is started; until then a thread does its work."""

logger = logging.getLogger(__name__)


class Aside:
    """Has messages answered, one after the other, by a process that is started when the first one comes.

    Made inside a running event loop.
    """

    def __init__(self, answer: Callable[[bytes], bytes], module: str, *arguments: str) -> None:
        """Run the module with these arguments, which serves the same `answer`."""
        self._answer = answer
        self._command = (module, *arguments)
        self._waiting: deque[tuple[bytes, asyncio.Future[bytes]]] = deque()
        self._asked = asyncio.Event()
        self._process: ChildProcess | None = None
        self._task = asyncio.create_task(self._run(), name=module)

    async def close(self) -> None:
        """End the process; who still waits is cancelled."""
        self._task.cancel()
        await asyncio.wait([self._task])
        if self._process is not None:
            await self._process.stop()  # to the end: `_answer_in_process` may have been cancelled on the way

    async def ask(self, message: bytes) -> bytes:
        """The answer to a message; what `answer` raises comes from here too."""
        if self._task.done():
            raise RuntimeError("nothing is answered any more")
        answered: asyncio.Future[bytes] = asyncio.get_running_loop().create_future()
        self._waiting.append((message, answered))
        self._asked.set()
        return await answered

    async def _run(self) -> None:
        clock, again = asyncio.get_running_loop().time, 0.0
        try:
            while await self._asked.wait():
                if clock() < again:
                    await self._answer_on_thread()
                else:
                    try:
                        await self._answer_in_process()
                    except ChildFailed as error:
                        again = clock() + AGAIN_SECONDS
                        logger.warning("%s; a thread does its work for %.0f seconds", error, AGAIN_SECONDS)
                        await self._answer_on_thread()
                if not self._waiting:
                    self._asked.clear()
        finally:
            for _, answered in self._waiting:
                answered.cancel()

    async def _answer_in_process(self) -> None:
        """Answer as long as somebody asks."""
        process = self._process = await ChildProcess.start(*self._command)
        flying: deque[tuple[bytes, asyncio.Future[bytes]]] = deque()
        try:
            while True:
                while self._waiting and len(flying) < IN_FLIGHT:
                    flying.append(self._waiting.popleft())
                    process.send(flying[-1][0])
                if flying:
                    answer = await process.receive()
                    _, answered = flying.popleft()
                    if not answered.done():
                        answered.set_result(answer)
                elif not await set_soon(self._asked, LINGER_SECONDS):
                    return
        finally:
            self._waiting.extendleft(reversed(flying))
            await process.stop()

    async def _answer_on_thread(self) -> None:
        """Answer who has waited longest."""
        message, answered = self._waiting[0]
        try:
            answer = await asyncio.to_thread(self._answer, message)
        except Exception as error:  # noqa: BLE001 - it belongs to whoever asked
            if not answered.done():
                answered.set_exception(error)
        else:
            if not answered.done():
                answered.set_result(answer)
        self._waiting.popleft()


async def set_soon(event: asyncio.Event, seconds: float) -> bool:
    """Whether an event is set again within so many seconds from now."""
    event.clear()
    try:
        async with asyncio.timeout(seconds):
            await event.wait()
    except TimeoutError:
        return False
    return True
