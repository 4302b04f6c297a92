from __future__ import annotations

import io

from app.delivery.judge_main import packed, serve
from tests.delivery.records import FORGED, GOOD


def test_chunks_are_answered_in_order_until_the_input_ends() -> None:
    chunks = b"".join(packed(b"".join(records)) for records in ([GOOD, FORGED], [GOOD], []))
    assert chunks[:4] == b"\0\0\1\0", "its length before it"
    sink = io.BytesIO()
    serve(io.BytesIO(chunks), sink)
    assert sink.getvalue() == b"\1\0\1"
