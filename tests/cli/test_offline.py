"""The file and the keys of what is checked offline."""

from __future__ import annotations

import io
import sys
from typing import TYPE_CHECKING

import pytest

from app.cli.offline import PUBLIC_KEYS, opened, public_keys
from app.cli.unusable import Unusable
from app.scores.score_event import SEED_PUBKEY
from tests.matches.made import APP, PLAYER

if TYPE_CHECKING:
    from pathlib import Path


def test_the_option_goes_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(PUBLIC_KEYS, f" {APP.pubkey}, ,{PLAYER.pubkey}")
    assert public_keys(()) == {APP.pubkey, PLAYER.pubkey}
    assert public_keys((PLAYER.pubkey.upper(),)) == {PLAYER.pubkey}


def test_no_key_and_a_bad_key(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv(PUBLIC_KEYS, raising=False)
    with pytest.raises(Unusable, match="no public key to verify against"):
        public_keys(())
    with pytest.raises(Unusable, match="--pubkey: this is an nsec"):
        public_keys((APP.to_nsec(),))
    monkeypatch.setenv(PUBLIC_KEYS, "ab")
    with pytest.raises(Unusable, match=f"{PUBLIC_KEYS}: the public key is neither"):
        public_keys(())


def test_the_key_that_anyone_can_sign_for_warns(capsys: pytest.CaptureFixture[str]) -> None:
    public_keys((SEED_PUBKEY,))
    assert "anyone can sign" in capsys.readouterr().err


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
