"""The store as the running service holds it: writes share commits, reads run beside them."""

from __future__ import annotations

import asyncio
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, TypeVar

from sqlalchemy import text

from app.store.backend import READERS
from app.store.database import database_fault
from app.store.errors import StoreUnavailable, on_one_line
from app.store.writer import Operation, Writer

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from sqlalchemy import Connection

    from app.store.database import Database

A = TypeVar("A")
R = TypeVar("R")


class Store:
    """Asynchronous access to a database; make it inside a running event loop.

    Attributes:
        commit_seconds: how long each commit took.
        commit_requests: how many requests shared each commit.
    """

    def __init__(self, database: Database) -> None:
        self._database = database
        self._writer = Writer(database)
        self.commit_seconds = self._writer.commit_seconds
        self.commit_requests = self._writer.commit_requests
        self._readers = ThreadPoolExecutor(READERS, thread_name_prefix="store-read")

    async def write(self, operation: Operation[A, R], argument: A, *, bulky: bool = False) -> R:
        """Run one request of an operation; it is on disk when this returns.

        Args:
            bulky: it may read or write thousands of rows.

        Raises:
            StoreUnavailable: if the database does not take it; nothing of it was kept.
            OutcomeUnknown: if it was lost as it was told to keep it.
        """
        return await self._writer.submit(operation, argument, bulky=bulky)

    async def read(self, query: Callable[[Connection], R]) -> R:
        """Run a query on a committed snapshot.

        Raises:
            StoreUnavailable: if the database does not answer.
        """
        loop = asyncio.get_running_loop()
        return await loop.run_in_executor(self._readers, self._read, query)

    def _read(self, query: Callable[[Connection], R]) -> R:
        database = self._database
        try:
            try:
                return _run(query, database)
            except Exception as error:
                if not database.backend.lost(error):
                    raise
                # It may have been lost long ago, while nobody used it: another connection may do.
                database.reader.dispose()
                return _run(query, database)
        except Exception as error:
            if (fault := database_fault(database.reader, error)) is None:
                raise
            raise StoreUnavailable(f"the database does not answer: {on_one_line(fault)}") from None

    async def check_writable(self) -> None:
        """Write a row as it is; a full disk, a lock or a lost file shows only when something is written.

        Raises:
            StoreUnavailable: if the database does not take it.
        """
        await self._writer.submit(_write_nothing_new, None)

    async def close(self) -> None:
        """Finish what is queued and close the database."""
        await self._writer.close()
        self._readers.shutdown()
        self._database.close()


def _write_nothing_new(connection: Connection, checks: Sequence[None]) -> list[None]:
    connection.execute(text("UPDATE alembic_version SET version_num = version_num"))
    return [*checks]


def _run(query: Callable[[Connection], R], database: Database) -> R:
    with database.reader.begin() as connection:
        return query(connection)
