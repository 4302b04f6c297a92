"""`key add|list|revoke`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from app.cli import main
from tests.process import environment, run
from tests.service import rows, running

if TYPE_CHECKING:
    from pathlib import Path


def key(folder: Path, *arguments: str) -> Result:
    env = {"BRISCOLA_DATABASE_URL": f"sqlite:///{folder / 'scores.db'}", "BRISCOLA_SECRET_KEY": ""}
    return CliRunner().invoke(main, ["key", *arguments], env=env)


def test_a_key_is_shown_once_and_needs_no_secret_key(tmp_path: Path) -> None:
    made = key(tmp_path, "add", "my game")
    assert made.exit_code == 0
    text = made.stdout.strip()
    key_id = text.split("_")[1]
    assert f"the key {key_id} of my game" in made.stderr
    listed = key(tmp_path, "list")
    assert listed.exit_code == 0
    assert text not in listed.output
    assert text.split("_", 2)[2] not in listed.output
    (line,) = [line for line in listed.stdout.splitlines() if key_id in line]
    assert line.endswith("good                      publish:any         my game")


def test_for_machines(tmp_path: Path) -> None:
    assert json.loads(key(tmp_path, "list", "--json").stdout) == []
    made = json.loads(key(tmp_path, "add", "Zoë's game", "--json").stdout)
    assert set(made) == {"id", "name", "scopes", "key"}
    assert (made["name"], made["scopes"]) == ("Zoë's game", ["publish:any"])
    (listed,) = json.loads(key(tmp_path, "list", "--json").stdout)
    assert listed["id"] == made["id"]
    assert listed["revoked_at"] is None
    assert not {"key", "hash"} & set(listed)


def test_without_a_key_the_list_says_how_to_make_one(tmp_path: Path) -> None:
    listed = key(tmp_path, "list")
    assert (listed.exit_code, listed.stdout) == (0, "")
    assert "key add NAME" in listed.stderr


def test_revoking(tmp_path: Path) -> None:
    made = json.loads(key(tmp_path, "add", "game", "--json").stdout)
    for _ in range(2):
        assert key(tmp_path, "revoke", made["id"]).exit_code == 0
    assert "revoked 20" in key(tmp_path, "list").stdout


@pytest.mark.parametrize("key_id", ["0" * 16, "", "\udcff", "' OR 1"])
def test_revoking_what_is_no_key(tmp_path: Path, key_id: str) -> None:
    refused = key(tmp_path, "revoke", key_id)
    assert refused.exit_code == 2
    assert "no API key has the id" in refused.stderr
    assert "key list" in refused.stderr


@pytest.mark.parametrize("name", ["", " ", "x" * 101, "a\nb", "\x1b[31m", "\udcff", "\u202e"])
def test_a_name_that_a_terminal_cannot_show_is_refused(tmp_path: Path, name: str) -> None:
    refused = key(tmp_path, "add", name)
    assert refused.exit_code == 2
    assert "printable" in refused.stderr
    assert key(tmp_path, "list").stdout == ""


def test_a_database_that_cannot_be_opened(tmp_path: Path) -> None:
    refused = key(tmp_path / "missing", "list")
    assert refused.exit_code == 2
    assert "make the folder" in refused.stderr
    assert "Traceback" not in refused.output


async def test_a_running_service_takes_a_new_key_and_refuses_a_revoked_one(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        made = json.loads((await run(environment(tmp_path), "key", "add", "late", "--json")).stdout)
        headers = {"Authorization": f"Bearer {made['key']}"}
        assert (await service.post("alice", 1, **headers)).status_code == 201
        assert (await run(environment(tmp_path), "key", "revoke", made["id"])).code == 0
        assert (await service.post("alice", 2, **headers)).status_code == 401
        assert rows(service.path, "SELECT count(*) FROM event") == [(1,)]
