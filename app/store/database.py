"""Opening the database: one connection that writes, others that read, the schema brought up to date."""

from __future__ import annotations

import os
import sqlite3
import threading
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

from alembic import command
from alembic.config import Config
from alembic.script import ScriptDirectory
from alembic.util import CommandError
from sqlalchemy import create_engine, event
from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError, OperationalError

from app.store.errors import StoreUnusable

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

_MIGRATIONS = Path(__file__).parent / "migrations"
READERS = 4
_BUSY_SECONDS = 5
_BUSY_PAUSE = 0.01
# Alembic keeps the migration under way in a global.
_one_migration_at_a_time = threading.Lock()


class Database:
    """Two engines on one database.

    Attributes:
        writer: its transactions take the write lock as they begin, and are on disk once they have committed.
        reader: its transactions see what is committed, and never wait for the writer.
    """

    def __init__(self, url: str) -> None:
        """Open, create or upgrade the database.

        Raises:
            StoreUnusable: if the address is wrong, the file is not writable or no database, or a newer
                release has written it.
        """
        try:
            parsed = make_url(url)
        except ArgumentError:
            raise StoreUnusable("BRISCOLA_DATABASE_URL is no database address: give sqlite:///FILE") from None
        self._name = parsed.database or ""
        file = _File(self._name)
        self.writer = _sqlite(url, file, begin="BEGIN IMMEDIATE", pool_size=1)
        self.reader = _sqlite(url, file, begin="BEGIN", pool_size=READERS)
        try:
            with self.writer.begin() as connection:
                _upgrade(connection)
        except (DBAPIError, OSError) as error:
            self.close()
            reason = getattr(error, "orig", error)
            raise StoreUnusable(
                f"the database {self._name!r} cannot be opened: {reason}{_hint(self._name, reason)}"
            ) from None
        except StoreUnusable:
            self.close()
            raise

    def close(self) -> None:
        """Close every connection."""
        self.writer.dispose()
        self.reader.dispose()


def database_fault(engine: Engine, error: Exception) -> Exception | None:
    """The driver's own error, however it comes: as it is, or wrapped by SQLAlchemy; None if it is another."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    driver = engine.dialect.loaded_dbapi
    return cause if isinstance(cause, driver.Error) else None


class _File:
    """The database's file, which must stay what it was when it was opened.

    SQLite goes on writing into a file that was deleted or replaced, and would lose every commit with it.
    """

    def __init__(self, name: str) -> None:
        self._path = Path(name).absolute()
        self._opened: tuple[int, int] | None = None

    def check(self) -> None:
        """Called as a transaction begins.

        Raises:
            OperationalError: the file is gone, or another one is in its place.
        """
        try:
            status = os.stat(self._path)  # noqa: PTH116 - a tenth of what pathlib takes
            found = (status.st_dev, status.st_ino)
        except OSError:
            found = None
        self._opened = self._opened or found
        if found is None or found != self._opened:
            fault = "its file was deleted or replaced: put it back, or start again"
            raise OperationalError("BEGIN", None, sqlite3.OperationalError(fault))


def _hint(name: str, reason: object) -> str:
    if getattr(reason, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY:
        return ": another process holds it, try again"
    folder = Path(name).resolve().parent
    if not folder.is_dir():
        return f": make the folder {str(folder)!r}, or set BRISCOLA_DATABASE_URL"
    return ": check the file and its rights, or set BRISCOLA_DATABASE_URL"


def _sqlite(url: str, file: _File, *, begin: str, pool_size: int) -> Engine:
    engine = create_engine(
        url,
        pool_size=pool_size,
        max_overflow=0,
        connect_args={"timeout": _BUSY_SECONDS, "check_same_thread": False},
    )

    @event.listens_for(engine, "connect")
    def configure(connection: Any, _record: object) -> None:
        # The driver must not begin transactions of its own: ours say which lock they take.
        connection.isolation_level = None
        _enter_wal(connection)
        connection.execute("PRAGMA synchronous=FULL")
        connection.execute("PRAGMA foreign_keys=ON")

    @event.listens_for(engine, "begin")
    def start(connection: Connection) -> None:
        file.check()
        connection.exec_driver_sql(begin)

    return engine


def _enter_wal(connection: Any) -> None:
    """Set the journal mode; SQLite does not wait by itself while another process sets it too."""
    deadline = time.monotonic() + _BUSY_SECONDS
    while True:
        try:
            connection.execute("PRAGMA journal_mode=WAL")
        except sqlite3.OperationalError as error:
            if error.sqlite_errorcode != sqlite3.SQLITE_BUSY or time.monotonic() > deadline:
                raise
            time.sleep(_BUSY_PAUSE)
        else:
            return


def _upgrade(connection: Connection) -> None:
    config = Config()
    config.set_main_option("script_location", str(_MIGRATIONS))
    config.attributes["connection"] = connection
    try:
        with _one_migration_at_a_time:
            command.upgrade(config, "head")
    except CommandError:
        head = ScriptDirectory.from_config(config).get_current_head()
        raise StoreUnusable(
            f"the database was written by a newer release than this one (its newest migration is {head}): "
            "upgrade briscola-scores, or use another database"
        ) from None
