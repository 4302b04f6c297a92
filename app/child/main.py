"""The child's end: every message is some bytes with their length before them, in four."""

from __future__ import annotations

import os
import sys
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable


def packed(message: bytes) -> bytes:
    """The message with its length before it."""
    return len(message).to_bytes(4) + message


def serve(answer: Callable[[bytes], bytes], nice: int = 0) -> None:
    """Answer each message until the input ends, as it does with the parent, however that ends.

    Args:
        nice: how far to give way to other processes, the parent among them.
    """
    if sys.platform != "win32":
        os.nice(nice)
    source, sink = sys.stdin.buffer, sys.stdout.buffer
    while head := source.read(4):
        sink.write(packed(answer(source.read(int.from_bytes(head)))))
        sink.flush()
