"""Group commit: one thread writes, and what arrives while a commit is under way shares the next one."""

from __future__ import annotations

import asyncio
import queue
import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy.exc import DBAPIError

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
        self._thread = threading.Thread(target=self._run, name="store-writer", daemon=True)
        self._thread.start()

    def submit(self, operation: Operation[A, R], argument: A) -> asyncio.Future[R]:
        """Queue one request; the future raises StoreUnavailable if the database does not take it."""
        future: asyncio.Future[R] = self._loop.create_future()
        self._queue.put(_Job(operation, argument, future))
        return future

    async def close(self) -> None:
        """Finish what is queued, then stop the thread."""
        self._queue.put(None)
        await asyncio.to_thread(self._thread.join)

    def _run(self) -> None:
        while True:
            batch, last = self._next_batch()
            if batch:
                self._write(batch)
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

    def _write(self, batch: list[_Job]) -> None:
        try:
            with self._engine.begin() as connection:
                for operation, jobs in _by_operation(batch).items():
                    _apply(connection, operation, jobs)
        except Exception:  # noqa: BLE001 - whatever it was, each request is tried alone and learns its own fault
            self._write_each(batch)

    def _write_each(self, batch: list[_Job]) -> None:
        try:
            with self._engine.begin() as connection:
                for job in batch:
                    try:
                        with connection.begin_nested():
                            _apply(connection, job.operation, [job])
                    except Exception as error:  # noqa: BLE001 - it belongs to this request
                        job.outcome = _translate(error)
        except Exception as error:  # noqa: BLE001 - nothing was committed, and every request must hear of it
            for job in batch:
                job.outcome = _translate(error)


def _by_operation(batch: list[_Job]) -> dict[Operation[Any, Any], list[_Job]]:
    groups: dict[Operation[Any, Any], list[_Job]] = {}
    for job in batch:
        groups.setdefault(job.operation, []).append(job)
    return groups


def _apply(connection: Connection, operation: Operation[Any, Any], jobs: list[_Job]) -> None:
    for job, outcome in zip(jobs, operation(connection, [job.argument for job in jobs]), strict=True):
        job.outcome = outcome


def _translate(error: Exception) -> Exception:
    if isinstance(error, DBAPIError):
        return StoreUnavailable(f"the database does not take writes: {error.orig}")
    return error


def _resolve(batch: list[_Job]) -> None:
    for job in batch:
        if job.future.done():
            continue  # the caller has gone; the commit stands
        if isinstance(job.outcome, Exception):
            job.future.set_exception(job.outcome)
        else:
            job.future.set_result(job.outcome)
