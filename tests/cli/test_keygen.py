"""`keygen` prints one key in its four forms."""

from __future__ import annotations

import json
import re

from click.testing import CliRunner
from nostr_sdk import Keys

from app.cli.keygen import command


def test_the_four_forms_are_of_one_key() -> None:
    shown = json.loads(CliRunner().invoke(command, ["--json"]).stdout)
    keys = Keys.parse(shown["nsec"])
    assert keys.secret_key().to_hex() == shown["secret_hex"]
    assert keys.public_key().to_hex() == shown["public_hex"]
    assert keys.public_key().to_bech32() == shown["npub"]


def test_people_see_them_line_by_line() -> None:
    result = CliRunner().invoke(command)
    assert result.exit_code == 0
    nsec, secret, npub, public = (line.split()[-1] for line in result.stdout.splitlines())
    keys = Keys.parse(nsec)
    assert [secret, npub, public] == [
        keys.secret_key().to_hex(),
        keys.public_key().to_bech32(),
        keys.public_key().to_hex(),
    ]
    assert re.match(r"secret +nsec1", result.stdout)


def test_every_key_is_fresh() -> None:
    assert len({CliRunner().invoke(command).stdout for _ in range(20)}) == 20
