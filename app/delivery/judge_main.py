"""The process that checks signatures beside the reader: `python -m app.delivery.judge_main KEY...`.

Each chunk of its input is a JSON list of lengths, its own length before it in four bytes, and events of these
lengths. It is answered by the JSON list of their proofs, its length before it likewise.
"""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import orjson

from app.delivery.judge import proof

if TYPE_CHECKING:
    from typing import BinaryIO


def packed(data: bytes) -> bytes:
    """The data with its length before it."""
    return len(data).to_bytes(4) + data


def serve(source: BinaryIO, sink: BinaryIO, keys: frozenset[str]) -> None:
    """Answer until the input ends."""
    while head := source.read(4):
        lengths: list[int] = orjson.loads(source.read(int.from_bytes(head)))
        proofs = [proof(source.read(length), keys) for length in lengths]
        sink.write(packed(orjson.dumps(proofs)))
        sink.flush()


if __name__ == "__main__":
    serve(sys.stdin.buffer, sys.stdout.buffer, frozenset(sys.argv[1:]))
