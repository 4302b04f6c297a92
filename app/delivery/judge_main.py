"""The process that checks signatures beside the reader: `python -m app.delivery.judge_main`.

Each chunk of its input is a row of signature records, its length before it in four bytes. It is answered by a
byte for each of them: 1 if the signature holds, else 0.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

from app.nostr.signature import RECORD_BYTES, record_holds

if TYPE_CHECKING:
    from typing import BinaryIO


def packed(data: bytes) -> bytes:
    """The data with its length before it."""
    return len(data).to_bytes(4) + data


def serve(source: BinaryIO, sink: BinaryIO) -> None:
    """Answer until the input ends."""
    while head := source.read(4):
        records = source.read(int.from_bytes(head))
        starts = range(0, len(records), RECORD_BYTES)
        sink.write(bytes([record_holds(records[start : start + RECORD_BYTES]) for start in starts]))
        sink.flush()


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer)
