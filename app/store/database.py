"""Opening the database: the right backend for its address, and the schema brought up to date."""

from __future__ import annotations

import importlib.util
from typing import TYPE_CHECKING

from sqlalchemy.engine import make_url
from sqlalchemy.exc import ArgumentError, DBAPIError

from app.store.errors import StoreUnusable, on_one_line
from app.store.migration import upgrade
from app.store.sqlite import Sqlite

if TYPE_CHECKING:
    from sqlalchemy import Engine

    from app.store.backend import Backend


class Database:
    """A database that is up to date.

    Attributes:
        backend: what stands behind it.
        writer: its transactions are on disk once they have committed.
        reader: its transactions see one state of what is committed, and never wait for the writer.
        migrated: the newest migration before and after it was opened.
    """

    def __init__(self, url: str) -> None:
        """Open, create or upgrade the database.

        Raises:
            StoreUnusable: if the address is wrong, the file or server cannot be used, or a newer release has
                written it.
        """
        self.backend = _backend(url)
        self.writer, self.reader = self.backend.writer, self.backend.reader
        try:
            with self.writer.begin() as connection:
                self.backend.check(connection)
                self.migrated = upgrade(connection)
        except Exception as error:
            self.close()
            reason = database_fault(self.writer, error) or error
            if reason is error and not isinstance(error, OSError):
                raise
            raise StoreUnusable(
                f"the database {self.backend.name!r} cannot be opened: "
                f"{on_one_line(reason)}{self.backend.hint(reason)}"
            ) from None

    def close(self) -> None:
        """Close every connection."""
        self.writer.dispose()
        self.reader.dispose()


def database_fault(engine: Engine, error: Exception) -> Exception | None:
    """The driver's own error, however it comes: as it is, or wrapped by SQLAlchemy; None if it is another."""
    cause = error.orig if isinstance(error, DBAPIError) else error
    driver = engine.dialect.loaded_dbapi
    return cause if isinstance(cause, driver.Error) else None


def _backend(url: str) -> Backend:
    wrong = StoreUnusable(
        "BRISCOLA_DATABASE_URL is no database address: give sqlite:///FILE or postgresql://USER@HOST/NAME"
    )
    try:
        parsed = make_url(url)
    except (ArgumentError, ValueError):
        raise wrong from None
    match parsed.drivername:
        case "sqlite":
            return Sqlite(parsed)
        case "postgresql" | "postgres":
            if importlib.util.find_spec("psycopg") is None:
                raise StoreUnusable(
                    "BRISCOLA_DATABASE_URL names a PostgreSQL, for which a package is missing: "
                    "pip install 'briscola-scores[postgres]'"
                )
            # Here, because what it needs is an extra.
            from app.store.postgresql import Postgresql

            try:
                return Postgresql(parsed)
            except ArgumentError as error:
                raise StoreUnusable(f"BRISCOLA_DATABASE_URL is no address: {on_one_line(error)}") from None
        case _:
            raise wrong
