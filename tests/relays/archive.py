"""The cheapest relay that a benchmark can read from: it serves the events of a file, and follows nothing.

`python -m tests.relays.archive FILE` prints its URL and runs until its standard input is closed. The file has
one event on each line, newest first. Of a REQ's filter it heeds `until` and `limit` alone.
"""

from __future__ import annotations

import asyncio
import json
import subprocess
import sys
from bisect import bisect_left
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

from tests.relays.bare import BareRelay, text_frame

if TYPE_CHECKING:
    from collections.abc import Iterator


class Archive(BareRelay):
    """One connection."""

    events: list[bytes]
    times: list[int]  # negative, so that they ascend

    def on_text(self, payload: bytes) -> None:
        """Answer a REQ."""
        match json.loads(payload):
            case ["REQ", subscription, {"limit": limit, **wanted}]:
                start = bisect_left(self.times, -wanted.get("until", sys.maxsize))
                name = json.dumps(subscription).encode()
                found = self.events[start : start + limit]
                texts = [b'["EVENT",' + name + b"," + event + b"]" for event in found]
                self.answers += map(text_frame, [*texts, b'["EOSE",' + name + b"]"])


@contextmanager
def archive_relay(file: Path) -> Iterator[str]:
    """An archive in a process of its own; gives its URL."""
    command = [sys.executable, "-m", "tests.relays.archive", str(file)]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.stdin.close()


async def _main() -> None:
    loop = asyncio.get_running_loop()
    server = await loop.create_server(Archive, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    print(f"ws://{host}:{port}", flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    import uvloop

    Archive.events = Path(sys.argv[1]).read_bytes().splitlines()
    Archive.times = [-json.loads(event)["created_at"] for event in Archive.events]
    uvloop.run(_main())
