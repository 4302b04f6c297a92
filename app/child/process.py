"""The parent's end of a process that answers messages, fed through its standard input.

It is started afresh rather than forked: a fork would inherit a service's sockets and its threads' locks. When
its parent is gone its input ends, and so does it.
"""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress
from pathlib import Path
from typing import cast

import app
from app.child.main import packed

ANSWER_SECONDS = 10.0
"""Any answer, or start, takes a second at most: whoever is silent for so long is stuck. Pages wait 20."""

_ROOT = Path(app.__file__).parent.parent


class ChildFailed(Exception):
    """The process could not be started, ended too soon, or is stuck."""


class ChildProcess:
    """A process at work."""

    def __init__(self, module: str, process: asyncio.subprocess.Process) -> None:
        self._module = module
        self._process = process
        self._stopping: asyncio.Task[None] | None = None
        # Both are pipes, as `start` wants them.
        self._stdin = cast("asyncio.StreamWriter", process.stdin)
        self._stdout = cast("asyncio.StreamReader", process.stdout)

    @classmethod
    async def start(cls, module: str, *arguments: str) -> ChildProcess:
        """Start a process that runs a module of this app, which calls `serve`.

        Args:
            arguments: no secrets: everybody on the machine may read them.

        Raises:
            ChildFailed: The system does not let us.
        """
        # It needs no settings, least of all a secret; -P keeps out another `app` in the working directory.
        environ = {name: value for name, value in os.environ.items() if not name.startswith("BRISCOLA_")}
        environ["PYTHONPATH"] = os.pathsep.join(filter(None, [str(_ROOT), environ.get("PYTHONPATH")]))
        try:
            process = await asyncio.create_subprocess_exec(
                sys.executable,
                *("-P", "-m", module, *arguments),
                stdin=asyncio.subprocess.PIPE,
                stdout=asyncio.subprocess.PIPE,
                env=environ,
                start_new_session=True,  # Ctrl-C is for the parent, which then ends its processes
            )
        except OSError as error:
            raise ChildFailed(f"no process for {module}: {error}") from None
        return cls(module, process)

    @property
    def pid(self) -> int:
        """The process's id."""
        return self._process.pid

    def send(self, message: bytes) -> None:
        """Have a message answered; the answer is the next that is received."""
        if not self._stdin.is_closing():  # else `receive` tells that the process is gone
            self._stdin.write(packed(message))

    async def receive(self) -> bytes:
        """The answer to the message that was sent first.

        Raises:
            ChildFailed: The process is gone, or stuck.
        """
        try:
            async with asyncio.timeout(ANSWER_SECONDS):
                size = int.from_bytes(await self._stdout.readexactly(4))
                return await self._stdout.readexactly(size)
        except TimeoutError:
            silent = f"the process of {self._module} did not answer within {ANSWER_SECONDS:g} s"
            raise ChildFailed(silent) from None
        except (OSError, asyncio.IncompleteReadError) as error:
            raise ChildFailed(f"the process of {self._module} ended too soon: {error!r}") from None

    async def stop(self) -> None:
        """End the process and wait until it has; that goes on if whoever waits is cancelled."""
        if self._stopping is None:
            self._stopping = asyncio.create_task(self._stop())
        await asyncio.shield(self._stopping)

    async def _stop(self) -> None:
        if self._process.returncode is None:
            self._process.kill()
        self._stdin.close()
        with suppress(OSError):  # what it has not read is of no use any more
            await self._stdin.wait_closed()
        await self._stdout.read()  # to the end, which closes our side
        await self._process.wait()
