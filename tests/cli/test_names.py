"""`names list|transfer|release|ban`, and keys with scopes and names."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result
from nostr_sdk import PublicKey

from app.cli import main
from tests.service import make_key, rows

if TYPE_CHECKING:
    from pathlib import Path

PUBKEY = "c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5"
NPUB = PublicKey.parse(PUBKEY).to_bech32()


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, arguments)


def good(*arguments: str) -> str:
    result = run(*arguments)
    assert result.exit_code == 0, result.output
    return result.output


def good_json(*arguments: str) -> Any:
    return json.loads(good(*arguments, "--json"))


def unusable(*arguments: str) -> str:
    result = run(*arguments)
    assert result.exit_code == 2
    assert result.stdout == ""
    return result.stderr


@pytest.mark.usefixtures("database")
def test_no_names_yet() -> None:
    result = run("names", "list")
    assert result.exit_code == 0
    assert result.stdout == ""
    assert "Nobody owns a name yet" in result.stderr
    assert good_json("names", "list") == []


@pytest.mark.usefixtures("database")
def test_a_name_is_transferred_listed_banned_and_released() -> None:
    said = good("names", "transfer", "Alice", NPUB)
    assert said == f"alice now belongs to nostr:{PUBKEY}; before, it belonged to nobody.\n"
    assert f"before, it belonged to nostr:{PUBKEY}." in good("names", "transfer", "ALICE", "jwt:https://a|7")
    assert "alice is banned; it belongs to jwt:https://a|7." in good("names", "ban", "alice")
    header, line = good("names", "list").splitlines()
    assert header.split() == ["name", "owned", "since", "state", "owner"]
    assert line.split()[0] == "alice"
    assert line.split()[-2:] == ["banned", "jwt:https://a|7"]
    (listed,) = good_json("names", "list")
    assert listed.pop("owned_since") > 1_700_000_000
    assert listed == {"name": "alice", "owner": "jwt:https://a|7", "banned": True}
    assert "lifts the ban" in unusable("names", "transfer", "alice", NPUB)
    said = good("names", "release", "alice")
    assert said == "alice is free, and the ban is lifted; before, it belonged to jwt:https://a|7.\n"
    assert "nobody owns the name 'alice'" in unusable("names", "release", "alice")


@pytest.mark.usefixtures("database")
def test_changes_as_json() -> None:
    transferred = good_json("names", "transfer", "zoë", PUBKEY)
    assert transferred.pop("owned_since") > 1_700_000_000
    assert transferred == {"name": "zoë", "owner": f"nostr:{PUBKEY}", "banned": False}
    assert good_json("names", "ban", "ZOË")["banned"] is True
    free = {"name": "zoë", "owner": None, "owned_since": None, "banned": False}
    assert good_json("names", "release", "Zoë") == free


def test_every_way_to_name_an_owner(database: Path) -> None:
    key_id, _ = make_key(database)
    for given, owner in {
        NPUB: f"nostr:{PUBKEY}",
        PUBKEY: f"nostr:{PUBKEY}",
        PUBKEY.upper(): f"nostr:{PUBKEY}",
        f"nostr:{PUBKEY}": f"nostr:{PUBKEY}",
        f"key:{key_id}": f"key:{key_id}",
        "jwt:https://id.example/|google|7": "jwt:https://id.example/|google|7",
    }.items():
        assert good_json("names", "transfer", "alice", given)["owner"] == owner


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize(
    ("owner", "said"),
    [
        ("key:", "incomplete"),
        ("jwt:", "incomplete"),
        ("jwt:https://id.example", "incomplete"),
        ("jwt:|7", "incomplete"),
        ("jwt:https://id.example|", "incomplete"),
        ("key:0123456789abcdef", "no API key has the id '0123456789abcdef'"),
        ("bob", "neither key:ID nor jwt:ISS|SUB nor a public key"),
        ("npub1xyz", "the npub cannot be read"),
        ("f" * 64, "not a point of the curve"),
    ],
)
def test_what_is_no_owner(owner: str, said: str) -> None:
    assert said in unusable("names", "transfer", "alice", owner)
    assert good_json("names", "list") == []


@pytest.mark.usefixtures("database")
def test_a_secret_key_given_for_an_owner_is_not_repeated() -> None:
    secret = "nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5"
    said = unusable("names", "transfer", "alice", secret)
    assert secret not in said
    assert "this is an nsec, but a public key is wanted" in said


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize(
    "command",
    [["names", "transfer", "a b", PUBKEY], ["names", "ban", "a b"], ["names", "release", "a b"]],
)
def test_what_is_no_name(command: list[str]) -> None:
    assert "the name 'a b' contains U+0020" in unusable(*command)


def test_keys_with_scopes_and_names(database: Path) -> None:
    made = [
        good_json("key", "add", "game"),
        good_json("key", "add", "boss", "--scope", "admin"),
        good_json("key", "add", "two", "--scope", "admin", "--scope", "publish:any"),
        good_json("key", "add", "alice's", "--name", "Alice", "--name", "ZOË", "--name", "alice"),
        good_json("key", "add", "server", "--scope", "publish:any", "--name", "bob"),
    ]
    assert [(key["scopes"], key.get("names")) for key in made] == [
        (["publish:any"], None),
        (["admin"], None),
        (["admin", "publish:any"], None),
        ([], ["alice", "zoë"]),
        (["publish:any"], ["bob"]),
    ]
    for key in made:
        assert rows(database, "SELECT name FROM api_key WHERE id = ?", key["id"]) == [(key["name"],)]
    listed = {key["id"]: (key["scopes"], key["names"]) for key in good_json("key", "list")}
    assert listed == {key["id"]: (key["scopes"], key.get("names")) for key in made}
    table = good("key", "list")
    assert "alice's (only alice, zoë)" in table
    assert "admin,publish:any" in table


@pytest.mark.usefixtures("database")
def test_scopes_and_names_are_checked() -> None:
    assert "publish:any" in unusable("key", "add", "game", "--scope", "root")
    assert "the name 'a b' contains U+0020" in unusable("key", "add", "game", "--name", "a b")
    assert good_json("key", "list") == []


def test_a_database_that_cannot_be_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRISCOLA_DATABASE_URL", "sqlite:////nowhere/at/all.db")
    assert "make the folder '/nowhere/at'" in unusable("names", "list")
