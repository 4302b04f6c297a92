from __future__ import annotations

import io
from typing import TYPE_CHECKING

from app.child.main import packed, serve

if TYPE_CHECKING:
    import pytest


def test_messages_are_answered_until_the_input_ends(monkeypatch: pytest.MonkeyPatch) -> None:
    messages = b"\0\0\0\3abc" + b"\0\0\0\0" + b"\0\0\1\0" + b"x" * 256
    assert packed(b"x" * 256) == b"\0\0\1\0" + b"x" * 256
    sink = io.BytesIO()
    monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(messages)))
    monkeypatch.setattr("sys.stdout", io.TextIOWrapper(sink))
    serve(lambda message: b"%d" % len(message))
    assert sink.getvalue() == b"\0\0\0\0013" + b"\0\0\0\0010" + b"\0\0\0\003256"
