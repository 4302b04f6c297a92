"""A database of an older release is brought up to date with everything in it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine

import app.store
from app.store.api_keys import list_keys
from app.store.scores import find_score, latest_score
from tests.store.players import opened


def make(path: Path, revision: str) -> None:
    """A database as the release with this newest migration made it."""
    config = Config()
    config.set_main_option("script_location", str(Path(app.store.__file__).parent / "migrations"))
    engine = create_engine(f"sqlite:///{path}")
    with engine.begin() as connection:
        config.attributes["connection"] = connection
        command.upgrade(config, revision)
    engine.dispose()


def test_what_was_there_before_names_is_a_score_and_a_key_without_limits(tmp_path: Path) -> None:
    path = tmp_path / "scores.db"
    make(path, "0001")
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("INSERT INTO relay VALUES (1, 'wss://one.example')")
        connection.execute(
            "INSERT INTO event VALUES (1, 'e1', 'alice', 1700000000, 'pk', 'Alice', 72, '{}', 1700000000.5)"
        )
        connection.execute("INSERT INTO delivery VALUES (1, 1, 'accepted', '', 1, NULL, NULL)")
        connection.execute("INSERT INTO api_key VALUES ('k1', 'game', 'publish:any', 'hash', 1, NULL)")
    with opened(path) as database, database.reader.begin() as connection:
        found = find_score(connection, "e1")
        assert found is not None
        assert (found.username, found.score, found.deleted_at) == ("Alice", 72, None)
        assert [(relay.url, relay.state) for relay in found.relays] == [("wss://one.example", "accepted")]
        assert latest_score(connection, "alice") == found
        (key,) = list_keys(connection)
        assert (key.scopes, key.names) == (("publish:any",), None)
