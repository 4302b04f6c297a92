"""A database of an older release is brought up to date with everything in it."""

from __future__ import annotations

import subprocess
import sys
from typing import TYPE_CHECKING

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from sqlalchemy import create_engine

from app.store.api_keys import list_keys
from app.store.migration import SCRIPTS, newest_revision
from app.store.scores import find_score, latest_score
from tests.store.players import opened

if TYPE_CHECKING:
    from pathlib import Path


def make(url: str, revision: str) -> None:
    """A database as the release with this newest migration made it."""
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS))
    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
    engine.dispose()


def write(url: str, *statements: str) -> None:
    engine = create_engine(url.replace("postgresql:", "postgresql+psycopg:"))
    with engine.begin() as connection:
        for statement in statements:
            connection.exec_driver_sql(statement)
    engine.dispose()


def test_what_was_there_before_names_is_a_score_and_a_key_without_limits(empty_url: str) -> None:
    make(empty_url, "0001")
    write(
        empty_url,
        "INSERT INTO relay VALUES (1, 'wss://one.example')",
        "INSERT INTO event VALUES (1, 'e1', 'alice', 1700000000, 'pk', 'Alice', 72, '{}', 1700000000.5)",
        "INSERT INTO delivery VALUES (1, 1, 'accepted', '', 1, NULL, NULL)",
        "INSERT INTO api_key VALUES ('k1', 'game', 'publish:any', 'hash', 1, NULL)",
    )
    with opened(empty_url) as database, database.reader.begin() as connection:
        found = find_score(connection, "e1")
        assert found is not None
        assert (found.username, found.score, found.deleted_at) == ("Alice", 72, None)
        assert [(relay.url, relay.state) for relay in found.relays] == [("wss://one.example", "accepted")]
        assert latest_score(connection, "alice") == found
        (key,) = list_keys(connection)
        assert (key.scopes, key.names) == (("publish:any",), None)


def test_the_newest_migration_is_the_one_that_alembic_calls_its_head() -> None:
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS))
    assert ScriptDirectory.from_config(config).get_current_head() == newest_revision()


def test_a_database_that_is_up_to_date_is_opened_without_alembic(tmp_path: Path) -> None:
    url = f"sqlite:///{tmp_path}/scores.db"
    program = (
        "import sys; from app.store.database import Database; "
        f"Database({url!r}).close(); print('alembic' in sys.modules)"
    )
    told = [
        subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True).stdout
        for _ in range(2)
    ]
    assert told == ["True\n", "False\n"]
