"""Opening the database: made, opened again, upgraded, or refused with what is wrong and what to do."""

from __future__ import annotations

import os
import sqlite3
import tempfile
from contextlib import closing, contextmanager
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from alembic.autogenerate import compare_metadata
from alembic.migration import MigrationContext
from sqlalchemy import Engine, text
from sqlalchemy.exc import OperationalError
from sqlalchemy.schema import CreateIndex, CreateTable

from app.store.database import Database
from app.store.errors import StoreUnusable
from app.store.tables import metadata
from tests.service import rows
from tests.store.players import at_once

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator


def url(path: Path) -> str:
    return f"sqlite:///{path}"


def test_a_fresh_database_gets_every_table(tmp_path: Path) -> None:
    Database(url(tmp_path / "new.db")).close()
    tables = {
        name for (name,) in rows(tmp_path / "new.db", "SELECT name FROM sqlite_master WHERE type='table'")
    }
    assert tables >= {"event", "relay", "process", "delivery", "api_key", "alembic_version"}


def test_opening_again_keeps_what_is_there(tmp_path: Path) -> None:
    path = tmp_path / "scores.db"
    for number in range(3):
        database = Database(url(path))
        with database.writer.begin() as connection:
            connection.execute(text(f"INSERT INTO relay (url) VALUES ('wss://{number}')"))
        database.close()
    assert rows(path, "SELECT count(*) FROM relay") == [(3,)]


def test_migrations_make_exactly_the_tables_that_the_queries_know(tmp_path: Path) -> None:
    database = Database(url(tmp_path / "new.db"))
    with database.reader.connect() as connection:
        context = MigrationContext.configure(
            connection, opts={"compare_type": True, "compare_server_default": True}
        )
        assert compare_metadata(context, metadata) == []
    with closing(sqlite3.connect(":memory:")) as plain:
        for statement in _statements(database.reader):
            plain.execute(statement)
        made = _shape(plain)
    with closing(sqlite3.connect(tmp_path / "new.db")) as migrated:
        assert _shape(migrated) == made
    database.close()


def _statements(engine: Engine) -> list[str]:
    tables = metadata.sorted_tables
    statements = [str(CreateTable(table).compile(engine)) for table in tables]
    return statements + [str(CreateIndex(i).compile(engine)) for table in tables for i in table.indexes]


def _shape(connection: sqlite3.Connection) -> dict[str, object]:
    """What SQLite knows of each table, whatever the words that made it."""
    shape: dict[str, object] = {}
    query = "SELECT name, sql FROM sqlite_master WHERE type = 'table' AND name NOT LIKE '%alembic%'"
    for name, sql in connection.execute(query).fetchall():
        indexes = connection.execute(f"PRAGMA index_list({name})").fetchall()
        shape[name] = (
            connection.execute(f"PRAGMA table_info({name})").fetchall(),
            sorted(connection.execute(f"PRAGMA foreign_key_list({name})").fetchall()),
            sorted(
                (unique, partial, tuple(connection.execute(f"PRAGMA index_info('{index}')").fetchall()))
                for _, index, unique, _, partial in indexes
            ),
            "WITHOUT ROWID" in sql.upper(),
            "AUTOINCREMENT" in sql.upper(),
        )
    return shape


def test_a_database_of_a_newer_release_is_refused(tmp_path: Path) -> None:
    path = tmp_path / "scores.db"
    Database(url(path)).close()
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(StoreUnusable, match=r"newer release.*upgrade briscola-scores"):
        Database(url(path))
    assert rows(path, "SELECT version_num FROM alembic_version") == [("9999",)]


def test_a_file_that_is_no_database_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "notes.txt"
    path.write_text("Dear diary, " * 500)
    with pytest.raises(StoreUnusable, match=r"not a database.*check the file"):
        Database(url(path))
    assert path.read_text() == "Dear diary, " * 500


def test_a_database_of_another_program_is_refused_and_left_alone(tmp_path: Path) -> None:
    path = tmp_path / "other.db"
    with closing(sqlite3.connect(path)) as connection, connection:
        connection.execute("CREATE TABLE event (what TEXT)")
    with pytest.raises(StoreUnusable, match="already exists"):
        Database(url(path))
    assert rows(path, "SELECT name FROM sqlite_master") == [("event",)]


def test_a_folder_is_refused(tmp_path: Path) -> None:
    with pytest.raises(StoreUnusable, match="unable to open"):
        Database(url(tmp_path))


def test_a_missing_folder_is_named(tmp_path: Path) -> None:
    missing = tmp_path / "not" / "there"
    with pytest.raises(StoreUnusable, match="make the folder") as caught:
        Database(url(missing / "scores.db"))
    assert str(missing) in str(caught.value)
    assert not missing.exists()


@contextmanager
def without_rights() -> Iterator[None]:
    """Be nobody for a while, where root would be let through."""
    if os.geteuid() != 0:
        yield
        return
    os.seteuid(65534)
    try:
        yield
    finally:
        os.seteuid(0)


def test_a_file_that_may_not_be_written_is_refused() -> None:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        Database(url(folder / "scores.db")).close()
        (folder / "scores.db").chmod(0o444)
        folder.chmod(0o555)
        refused = pytest.raises(
            StoreUnusable, match=r"(readonly|unable to open).*check the file and its rights"
        )
        with refused, without_rights():
            Database(url(folder / "scores.db"))
        with refused, without_rights():
            Database(url(folder / "new.db"))
        folder.chmod(0o700)


def test_commits_are_durable(tmp_path: Path) -> None:
    database = Database(url(tmp_path / "scores.db"))
    with database.writer.connect() as connection:
        assert connection.exec_driver_sql("PRAGMA journal_mode").scalar_one() == "wal"
        assert connection.exec_driver_sql("PRAGMA synchronous").scalar_one() == 2, "2 is FULL"
        assert connection.exec_driver_sql("PRAGMA foreign_keys").scalar_one() == 1
    database.close()


def delete(path: Path) -> None:
    path.unlink()


def move(path: Path) -> None:
    path.rename(path.with_name("moved.db"))


def replace(path: Path) -> None:
    Database(url(path.with_name("other.db"))).close()
    path.with_name("other.db").replace(path)


@pytest.mark.parametrize("take_away", [delete, move, replace])
def test_nothing_is_written_into_a_file_that_is_no_longer_there(
    tmp_path: Path, take_away: Callable[[Path], None]
) -> None:
    path = tmp_path / "scores.db"
    database = Database(url(path))
    with database.writer.begin() as connection:
        connection.execute(text("INSERT INTO relay (url) VALUES ('wss://kept')"))
    path.with_name("keep.db").hardlink_to(path)
    take_away(path)
    for engine in (database.writer, database.reader):
        with pytest.raises(OperationalError, match="deleted or replaced"), engine.begin():
            pass
    path.unlink(missing_ok=True)
    path.with_name("keep.db").rename(path)
    with database.writer.begin() as connection:
        assert connection.execute(text("SELECT url FROM relay")).scalars().all() == ["wss://kept"]
    database.close()


def test_a_database_that_another_process_holds_is_not_called_broken(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "scores.db"
    Database(url(path)).close()
    monkeypatch.setattr("app.store.sqlite._BUSY_SECONDS", 0)
    with closing(sqlite3.connect(path, isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        with pytest.raises(StoreUnusable, match=r"locked: another process holds it, try again$"):
            Database(url(path))


def test_a_writing_transaction_takes_the_lock_as_it_begins(tmp_path: Path) -> None:
    path = tmp_path / "scores.db"
    database = Database(url(path))
    with closing(sqlite3.connect(path, timeout=0, isolation_level=None)) as other:
        with database.writer.begin(), pytest.raises(sqlite3.OperationalError, match="locked"):
            other.execute("BEGIN IMMEDIATE")
        with database.reader.begin():
            other.execute("BEGIN IMMEDIATE")
    database.close()


def test_several_processes_may_make_it_at_once(tmp_path: Path) -> None:
    assert at_once(6, lambda: Database(url(tmp_path / "scores.db")).close()) == []


def test_an_address_that_is_none_is_refused() -> None:
    with pytest.raises(StoreUnusable, match="no database address"):
        Database("nonsense")


def test_an_address_whose_options_are_wrong_is_refused() -> None:
    with pytest.raises(StoreUnusable, match=r"BRISCOLA_DATABASE_URL is no address: .*port"):
        Database("postgresql://me:hunter2@db.example/scores?port=abc")
