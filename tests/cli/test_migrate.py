"""`migrate`: says from where to where, and does nothing twice."""

from __future__ import annotations

import pytest
from alembic.script import ScriptDirectory
from click.testing import CliRunner

from app.cli import main
from app.store import migration
from tests.service import rows

NEWEST = ScriptDirectory(str(migration.SCRIPTS)).get_current_head()


@pytest.fixture
def url(empty_url: str, monkeypatch: pytest.MonkeyPatch) -> str:
    monkeypatch.setenv("BRISCOLA_DATABASE_URL", empty_url)
    return empty_url


def test_an_empty_database_and_the_same_again(url: str) -> None:
    for said in (f"empty -> {NEWEST}\n", f"The database is at {NEWEST} already.\n"):
        result = CliRunner().invoke(main, ["migrate"])
        assert (result.exit_code, result.stdout) == (0, said)
    assert rows(url, "SELECT version_num FROM alembic_version") == [(NEWEST,)]


def test_a_database_that_cannot_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRISCOLA_DATABASE_URL", "postgresql://me:hunter2@127.0.0.1:1/none")
    result = CliRunner().invoke(main, ["migrate"])
    assert result.exit_code == 2
    assert "'postgresql://me:***@127.0.0.1:1/none' cannot be opened" in result.stderr
    assert "hunter2" not in result.output
