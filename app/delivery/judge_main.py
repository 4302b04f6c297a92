"""The process that checks signatures beside the reader: `python -m app.delivery.judge_main`."""

from __future__ import annotations

from app.child.main import serve
from app.nostr.signature import RECORD_BYTES, record_holds


def answer(records: bytes) -> bytes:
    """For each of some signature records in a row: 1 if the signature holds, else 0."""
    starts = range(0, len(records), RECORD_BYTES)
    return bytes([record_holds(records[start : start + RECORD_BYTES]) for start in starts])


if __name__ == "__main__":
    serve(answer)
