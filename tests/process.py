"""The command line as people run it: processes of their own, with nothing of this one's settings."""

from __future__ import annotations

import asyncio
import os
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING

from tests.service import NOWHERE, SECRET

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

ROOT = Path(__file__).parent.parent
SECONDS = 60


def environment(folder: Path, **settings: str) -> dict[str, str]:
    """Settings for a database in the folder; `settings` by their names without the prefix, "" unsets one."""
    inherited = {name: value for name, value in os.environ.items() if not name.startswith("BRISCOLA_")}
    ours = {"SECRET_KEY": SECRET, "RELAYS": NOWHERE, "DATABASE_URL": f"sqlite:///{folder / 'scores.db'}"}
    named = {f"BRISCOLA_{name}": value for name, value in {**ours, **settings}.items()}
    return {**inherited, **named, "PYTHONPATH": str(ROOT)}


@dataclass
class Ended:
    """How a command ended."""

    code: int
    stdout: str
    stderr: str


async def start(env: dict[str, str], *arguments: str) -> asyncio.subprocess.Process:
    """Start `briscola-scores` with these arguments."""
    pipe = asyncio.subprocess.PIPE
    return await asyncio.create_subprocess_exec(
        sys.executable, "-m", "app", *arguments, env=env, cwd=ROOT, stdout=pipe, stderr=pipe
    )


async def run(env: dict[str, str], *arguments: str) -> Ended:
    """Run `briscola-scores` with these arguments to its end."""
    process = await start(env, *arguments)
    async with asyncio.timeout(SECONDS):
        stdout, stderr = await process.communicate()
    assert process.returncode is not None
    return Ended(process.returncode, stdout.decode(), stderr.decode())


@dataclass
class Serving:
    """A running `serve`: its address, and what it has said on stderr."""

    process: asyncio.subprocess.Process
    url: str
    said: list[str] = field(default_factory=list)

    def resident_mebibytes(self) -> float:
        """How much memory the process takes now."""
        pages = int(Path(f"/proc/{self.process.pid}/statm").read_text().split()[1])
        return pages * os.sysconf("SC_PAGE_SIZE") / 2**20

    async def end(self, signal: int) -> int:
        """Send a signal and wait for the end; returns the exit code."""
        self.process.send_signal(signal)
        async with asyncio.timeout(SECONDS):
            return await self.process.wait()


@asynccontextmanager
async def serving(env: dict[str, str], *options: str) -> AsyncIterator[Serving]:
    """Run `serve` on a free port; it is killed in the end, unless it has ended."""
    process = await start(env, "serve", "--port", "0", *options)
    assert process.stderr is not None
    said: list[str] = []

    async def listen() -> str:
        assert process.stderr is not None
        async for line in process.stderr:
            said.append(line.decode())
            if said[-1].startswith("Listening on "):
                return said[-1].removeprefix("Listening on ").strip()
        raise AssertionError(f"serve ended: {''.join(said)}")

    async def drain() -> None:
        assert process.stderr is not None
        said.extend([line.decode() async for line in process.stderr])

    try:
        async with asyncio.timeout(SECONDS):
            url = await listen()
        draining = asyncio.create_task(drain())
        yield Serving(process, url, said)
        if process.returncode is None:
            process.kill()
        await process.wait()
        await draining
    finally:
        if process.returncode is None:
            process.kill()
            await process.wait()
