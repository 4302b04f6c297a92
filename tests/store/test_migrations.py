"""A database of an older release is brought up to date with everything in it."""

from __future__ import annotations

from alembic import command
from alembic.config import Config
from sqlalchemy import create_engine

from app.store.api_keys import list_keys
from app.store.migration import SCRIPTS
from app.store.scores import find_score, latest_score
from tests.store.players import opened


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
