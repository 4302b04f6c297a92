"""Keys that a command looks at: options first, then the environment."""

from __future__ import annotations

import pytest

from app.cli.public_keys import public_keys
from app.cli.unusable import Unusable
from tests.service import PUBKEY
from tests.test_config import NPUB, NPUB_HEX, SEED_PUBKEY

ENVIRONMENT = "BRISCOLA_PUBLIC_KEYS"


def test_options_stand_before_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENVIRONMENT, f" {PUBKEY}, ,{NPUB} ")
    assert public_keys(()) == {PUBKEY, NPUB_HEX}
    assert public_keys((NPUB,)) == {NPUB_HEX}


def test_a_fault_names_where_it_stands(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv(ENVIRONMENT, " , ")
    with pytest.raises(Unusable, match="no public key to verify against: give --pubkey"):
        public_keys(())
    with pytest.raises(Unusable, match=r"^--pubkey: "):
        public_keys(("ab",))
    monkeypatch.setenv(ENVIRONMENT, "ab")
    with pytest.raises(Unusable, match=rf"^{ENVIRONMENT}: "):
        public_keys(())


def test_a_key_that_everybody_knows_is_warned_of(capsys: pytest.CaptureFixture[str]) -> None:
    assert public_keys((SEED_PUBKEY,)) == {SEED_PUBKEY}
    assert "secret key is 1" in capsys.readouterr().err
    public_keys((PUBKEY,))
    assert capsys.readouterr().err == ""
