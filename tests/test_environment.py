"""Settings from the environment: every fault at once, by name; what is unknown warns."""

from __future__ import annotations

import os
import re
from pathlib import Path

import pytest

from app.config import Settings
from app.environment import load, setting_names
from tests.environ import environment, faults
from tests.service import SECRET

ROOT = Path(__file__).parents[1]


@pytest.mark.parametrize("environ", [{}, {"BRISCOLA_SECRET_KEY": ""}, {"BRISCOLA_SECRET_KEY": " \n"}])
def test_without_a_secret_key_the_way_to_one_is_shown(environ: dict[str, str]) -> None:
    (fault,) = faults(environ)
    assert fault.startswith("BRISCOLA_SECRET_KEY: is not set")
    assert "keygen" in fault
    assert "BRISCOLA_SECRET_KEY_FILE" in fault


def test_a_misspelt_name_is_shown_beside_what_is_not_set() -> None:
    missing, unknown = faults({"BRISCOLA_SECRETKEY": "nsec1"})
    assert missing.startswith("BRISCOLA_SECRET_KEY: is not set")
    assert unknown == "BRISCOLA_SECRETKEY: unknown setting, ignored"


def test_every_fault_is_reported_at_once() -> None:
    found = faults(
        environment(
            SECRET_KEY=f"{1:064x}",
            PUBLIC_KEYS="xyz",
            RELAYS="ftp://relay",
            DATABASE_URL="mysql://host/db",
            PUBLIC_URL="scores",
            SCORE_POLICY="worst",
            ALLOW_INSECURE_KEY="yes",
            LOG_LEVEL="loud",
            LOG_FORMAT="xml",
        )
    )
    assert sorted(fault.partition(":")[0] for fault in found) == [
        "BRISCOLA_ALLOW_INSECURE_KEY",
        "BRISCOLA_DATABASE_URL",
        "BRISCOLA_LOG_FORMAT",
        "BRISCOLA_LOG_LEVEL",
        "BRISCOLA_PUBLIC_KEYS",
        "BRISCOLA_PUBLIC_URL",
        "BRISCOLA_RELAYS",
        "BRISCOLA_SCORE_POLICY",
        "BRISCOLA_SECRET_KEY",
    ]
    assert not any("pydantic" in fault or "Value error" in fault for fault in found)


def test_what_is_unknown_warns_and_what_is_empty_counts_as_unset() -> None:
    environ = environment(RELAY="wss://secret.example", RELAYS="", PUBLIC_URL=" ", ZZZ="1", EMPTY="")
    it, warnings = load(Settings, {**environ, "OTHER": "1", "briscola_relays": "x"})
    assert warnings == [
        "BRISCOLA_RELAY: unknown setting, ignored",
        "BRISCOLA_ZZZ: unknown setting, ignored",
    ]
    assert it.relays == ("wss://nostr.relay.hedwig.sh",)
    assert it.public_url is None


def test_settings_come_from_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in [name for name in os.environ if name.startswith("BRISCOLA_")]:
        monkeypatch.delenv(name)
    monkeypatch.setenv("BRISCOLA_SECRET_KEY", SECRET)
    assert load(Settings)[0].secret_key.to_hex() == SECRET


def test_the_example_holds_every_setting_and_no_other() -> None:
    text = (ROOT / ".env.example").read_text("utf-8")
    named = re.findall(r"^#? ?(BRISCOLA_[A-Z_]+)=", text, flags=re.MULTILINE)
    assert sorted(named) == sorted(setting_names())
    assert all(setting_names().values()), "every setting is described"
