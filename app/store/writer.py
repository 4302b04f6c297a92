"""Group commit: one thread writes, and what arrives while a commit is under way shares the next one."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from app.store.database import database_fault
from app.store.errors import StoreUnavailable

if TYPE_CHECKING:
    from sqlalchemy import Connection, Engine

A = TypeVar("A")
R = TypeVar("R")

# Does the work of many requests at once and answers one result for each, in order. A result that is an
# exception fails its request alone, and must have written nothing.
Operation = Callable[["Connection", Sequence[A]], Sequence[R | Exception]]

_BATCH = 256


@dataclass(slots=True)
class _Job:
    operation: Operation[Any, Any]
    argument: Any
    future: asyncio.Future[Any]
    outcome: Any = None


class Writer:
    """Runs operations on the thread that owns the writing connection.

    Requests that wait together share a transaction. If it fails, each is tried again inside a savepoint of
    its own, so that one bad request fails alone. A future resolves only after the commit.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._queue: queue.SimpleQueue[_Job | None] = queue.SimpleQueue()
        self._loop = asyncio.get_running_loop()
        self._closed = False
        self._thread = threading.Thread(target=self._run, name="store-writer", daemon=True)
        self._thread.start()

    def submit(self, operation: Operation[A, R], argument: A) -> asyncio.Future[R]:
        """Queue one request; the future raises StoreUnavailable if the database does not take it."""
        future: asyncio.Future[R] = self._loop.create_future()
        if self._closed:
            future.set_exception(StoreUnavailable("the store is closed"))
        else:
            self._queue.put(_Job(operation, argument, future))
        return future

    async def close(self) -> None:
        """Finish what is queued, then stop the thread."""
        self._closed = True
        self._queue.put(None)
        await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        with self._engine.connect() as connection:
            while True:
                batch, last = self._next_batch()
                if batch:
                    _write(connection, batch)
                    self._loop.call_soon_threadsafe(_resolve, batch)
                if last:
                    return

    def _next_batch(self) -> tuple[list[_Job], bool]:
        job = self._queue.get()
        batch: list[_Job] = []
        while job is not None:
            batch.append(job)
            if len(batch) == _BATCH:
                return batch, False
            try:
                job = self._queue.get_nowait()
            except queue.Empty:
                return batch, False
        return batch, True


def _write(connection: Connection, batch: list[_Job]) -> None:
    begun = False
    try:
        with connection.begin():
            begun = True
            for operation, jobs in _by_operation(batch).items():
                _apply(connection, operation, jobs)
    except Exception as error:  # noqa: BLE001 - where a transaction can begin, each is tried alone and learns its own fault
        _undo(connection)
        if begun:
            _write_each(connection, batch)
        else:
            _fail(connection, batch, error)


def _write_each(connection: Connection, batch: list[_Job]) -> None:
    try:
        with connection.begin():
            for job in batch:
                savepoint = connection.begin_nested()
                try:
                    _apply(connection, job.operation, [job])
                    savepoint.commit()
                except Exception as error:
                    if not _in_transaction(connection):
                        raise  # the database has undone the requests before this one, too
                    savepoint.rollback()
                    job.outcome = _translate(connection, error)
    except Exception as error:  # noqa: BLE001 - nothing was committed, and every request must hear of it
        _undo(connection)
        _fail(connection, batch, error)


def _in_transaction(connection: Connection) -> bool:
    """Whether the transaction still stands: SQLite ends it by itself where the disk is full or fails."""
    driver: Any = connection.connection.driver_connection
    return bool(driver.in_transaction)


def _undo(connection: Connection) -> None:
    """Roll back at the driver's level: a commit that failed may have left its transaction open."""
    connection.connection.rollback()


def _fail(connection: Connection, batch: list[_Job], error: Exception) -> None:
    for job in batch:
        job.outcome = _translate(connection, error)


def _by_operation(batch: list[_Job]) -> dict[Operation[Any, Any], list[_Job]]:
    groups: dict[Operation[Any, Any], list[_Job]] = {}
    for job in batch:
        groups.setdefault(job.operation, []).append(job)
    return groups


def _apply(connection: Connection, operation: Operation[Any, Any], jobs: list[_Job]) -> None:
    for job, outcome in zip(jobs, operation(connection, [job.argument for job in jobs]), strict=True):
        job.outcome = outcome


def _translate(connection: Connection, error: Exception) -> Exception:
    if (fault := database_fault(connection.engine, error)) is not None:
        return StoreUnavailable(f"the database does not take writes: {fault}")
    return error


def _resolve(batch: list[_Job]) -> None:
    for job in batch:
        if job.future.done():
            continue  # the caller has gone; the commit stands
        if isinstance(job.outcome, Exception):
            job.future.set_exception(job.outcome)
        else:
            job.future.set_result(job.outcome)
