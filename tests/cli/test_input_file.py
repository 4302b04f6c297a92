"""The file that a command reads."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

import pytest

from app.cli.input_file import opened
from app.cli.unusable import Unusable

if TYPE_CHECKING:
    from pathlib import Path


def test_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    file = tmp_path / "file"
    file.write_bytes(b"x")
    with opened(str(file)) as stream:
        assert stream.read() == b"x"
    monkeypatch.setattr(sys, "stdin", io.TextIOWrapper(io.BytesIO(b"y")))
    with opened("-") as stream:
        assert stream.read() == b"y"
    for name, message in [("/nowhere/at all", "No such file"), ("a\0b", "null")]:
        with pytest.raises(Unusable, match=message):
            opened(name)
    monkeypatch.setattr(sys, "stdin", None)
    with pytest.raises(Unusable, match="standard input: it is closed"):
        opened("-")
