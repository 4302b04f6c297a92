"""SQLite: one file, one transaction at a time that writes, others that read beside it."""

from __future__ import annotations

import asyncio
import os
import sqlite3
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import TYPE_CHECKING, Any

from sqlalchemy import create_engine, event
from sqlalchemy.exc import OperationalError

from app.store.backend import READERS
from app.store.errors import StoreUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection, Engine
    from sqlalchemy.engine import URL, RootTransaction

_BUSY_SECONDS = 5.0
_BUSY_PAUSE = 0.005


class Sqlite:
    """The backend on a file; transactions of the writer take the write lock as they begin."""

    def __init__(self, url: URL) -> None:
        self.name = url.database or ""
        file = _File(self.name)
        self.writer = _engine(url, file, begin="BEGIN IMMEDIATE", pool_size=1)
        self.reader = _engine(url, file, begin="BEGIN", pool_size=READERS)

    def check(self, connection: Connection) -> None:
        """Any SQLite will do."""

    def hint(self, reason: object) -> str:
        """Another process, a missing folder, or the file itself."""
        if getattr(reason, "sqlite_errorcode", None) == sqlite3.SQLITE_BUSY:
            return ": another process holds it, try again"
        folder = Path(self.name).resolve().parent
        if not folder.is_dir():
            return f": make the folder {str(folder)!r}, or set BRISCOLA_DATABASE_URL"
        return ": check the file and its rights, or set BRISCOLA_DATABASE_URL"

    def transactions(self) -> SqliteTransactions:
        """The writer's transactions."""
        return SqliteTransactions(self.writer)

    def lost(self, error: Exception) -> bool:
        """A file has no connection to lose."""
        return False

    async def listen(self, wake: Callable[[], None]) -> None:
        """SQLite tells nobody: other processes look for themselves every few seconds."""


class SqliteTransactions:
    """The writer's transactions on one connection.

    Statements run on the event loop, because they touch memory only and a switch of threads for each would
    cost more than they do; what waits for the disk, the commit, runs on a thread. So does bulky work.
    """

    def __init__(self, engine: Engine) -> None:
        self._connection = engine.connect()
        # The event loop must not be kept waiting for a lock: `_begin` does the waiting.
        self._connection.connection.cursor().execute("PRAGMA busy_timeout = 0")
        self._loop = asyncio.get_running_loop()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="store-commit")

    async def run(self, work: Callable[[Connection], None], *, bulky: bool) -> None:
        """Run work in a transaction; see `Transactions`."""
        transaction = await self._begin()
        try:
            if bulky:
                await self._loop.run_in_executor(self._thread, work, self._connection)
            else:
                work(self._connection)
            await self._loop.run_in_executor(self._thread, transaction.commit)
        except BaseException:
            transaction.rollback()
            # SQLAlchemy does nothing after a commit that failed; it may have left the transaction open.
            self._connection.connection.rollback()
            raise

    def may_pass(self, error: Exception) -> bool:
        """Nothing passes: whoever has the write lock meets nobody."""
        return False

    async def close(self) -> None:
        """Let go of the connection."""
        self._thread.shutdown()
        self._connection.close()

    async def _begin(self) -> RootTransaction:
        """Take the write lock; another process may hold it for a while."""
        deadline = self._loop.time() + _BUSY_SECONDS
        while True:
            try:
                return self._connection.begin()
            except OperationalError as error:
                busy = getattr(error.orig, "sqlite_errorname", "").startswith("SQLITE_BUSY")
                if not busy or self._loop.time() > deadline:
                    raise StoreUnavailable(f"the database does not take writes: {error.orig}") from None
            await asyncio.sleep(_BUSY_PAUSE)


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


def _engine(url: URL, file: _File, *, begin: str, pool_size: int) -> Engine:
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
