"""The parent's end of a process that checks signatures, fed through its standard input.

It is started afresh rather than forked: a fork would inherit a service's sockets and its threads' locks. When
its parent is gone its input ends, and so does it.
"""

from __future__ import annotations

import asyncio
import os
import sys
from collections import deque
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, cast

import app
from app.delivery.judge_main import packed

if TYPE_CHECKING:
    from collections.abc import Sequence

_ROOT = Path(app.__file__).parent.parent


class JudgeFailed(Exception):
    """The process could not be started, or ended too soon."""


class JudgeProcess:
    """A process at work."""

    def __init__(self, process: asyncio.subprocess.Process) -> None:
        self._process = process
        # Both are pipes, as `start` wants them.
        self._stdin = cast("asyncio.StreamWriter", process.stdin)
        self._stdout = cast("asyncio.StreamReader", process.stdout)
        self._sent: deque[int] = deque()  # how many records each chunk had that is not answered yet

    @classmethod
    async def start(cls) -> JudgeProcess:
        """Start a process.

        Raises:
            JudgeFailed: The system does not let us.
        """
        # It needs no settings, least of all a secret; -P keeps out another `app` in the working directory.
        environ = {name: value for name, value in os.environ.items() if not name.startswith("BRISCOLA_")}
        environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(_ROOT), environ.get("PYTHONPATH")]))
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-P", "-m", "app.delivery.judge_main"),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                env=environ,
                start_new_session=True,  # Ctrl-C is for the parent, which then ends its processes
            )
        except OSError as error:
            raise JudgeFailed(str(error)) from None
        return cls(process)

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    def send(self, records: Sequence[bytes]) -> None:
        """Have signatures checked; the answer is the next that is received."""
        self._sent.append(len(records))
        self._stdin.write(packed(b"".join(records)))

    async def receive(self) -> bytes:
        """For each signature that was sent first, in order: 1 if it holds, else 0.

        Raises:
            JudgeFailed: The process is gone.
        """
        try:
            return await self._stdout.readexactly(self._sent.popleft())
        except (OSError, asyncio.IncompleteReadError) as error:
            raise JudgeFailed(f"a process that checks signatures ended too soon: {error!r}") from None

    async def stop(self) -> None:
        """End the process and wait until it has."""
        if self._process.returncode is None:
            self._process.kill()
        self._stdin.close()
        with suppress(OSError):  # what it has not read is of no use any more
            await self._stdin.wait_closed()
        await self._stdout.read()  # to the end, which closes our side
        await self._process.wait()
