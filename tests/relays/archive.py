"""The cheapest relay that a benchmark can read from: it serves the events of a file, and follows nothing.

`python -m tests.relays.archive FILE` prints its URL and runs until its standard input is closed. The file has
one event on each line, newest first. Of a REQ's filter it heeds `until` and `limit` alone.
"""

from __future__ import annotations

import json
import sys
from bisect import bisect_left
from pathlib import Path
from typing import TYPE_CHECKING

from tests.relays.bare import BareRelay, relay_process, serve, text_frame

if TYPE_CHECKING:
    from contextlib import AbstractContextManager


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


def archive_relay(file: Path) -> AbstractContextManager[str]:
    """An archive in a process of its own; gives its URL."""
    return relay_process("tests.relays.archive", str(file))


if __name__ == "__main__":
    import uvloop

    Archive.events = Path(sys.argv[1]).read_bytes().splitlines()
    Archive.times = [-json.loads(event)["created_at"] for event in Archive.events]
    uvloop.run(serve(Archive))
