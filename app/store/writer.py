"""Group commit: what arrives while a commit is under way shares the next one."""

from __future__ import annotations

import asyncio
import logging
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING, Any, TypeVar

from sqlalchemy.exc import DBAPIError

from app.histogram import Histogram
from app.store.cursor import cursor_of
from app.store.database import database_fault
from app.store.errors import StoreUnavailable, on_one_line

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from app.store.database import Database

A = TypeVar("A")
R = TypeVar("R")

# Does the work of many requests at once and answers one result for each, in order. A result that is an
# exception fails its request alone, and must have written nothing.
Operation = Callable[["Connection", Sequence[A]], Sequence[R | Exception]]

_BATCH = 64
# Where requests come together, waiting for a few more costs them less than a commit of their own.
_LINGER = 0.002
_COMMIT_SECONDS = (0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0)
_COMMIT_REQUESTS = (1, 2, 4, 8, 16, 32, _BATCH)

log = logging.getLogger(__name__)


@dataclass(slots=True)
class _Job:
    operation: Operation[Any, Any]
    argument: Any
    bulky: bool
    future: asyncio.Future[Any]
    outcome: Any = None


class Writer:
    """Gathers requests into transactions.

    Requests that wait together share a transaction. If it fails, each is tried again inside a savepoint of
    its own, so that one bad request fails alone. A future resolves only after the commit.

    Attributes:
        commit_seconds: how long each commit took, from when it was begun.
        commit_requests: how many requests shared each commit.
    """

    def __init__(self, database: Database) -> None:
        self.commit_seconds = Histogram(_COMMIT_SECONDS)
        self.commit_requests = Histogram(_COMMIT_REQUESTS)
        self._engine = database.writer
        self._transactions = database.backend.transactions()
        self._loop = asyncio.get_running_loop()
        self._jobs: list[_Job] = []
        self._wanted = asyncio.Event()
        self._closing = False
        self._task = asyncio.create_task(self._run(), name="store-writer")

    def submit(self, operation: Operation[A, R], argument: A, *, bulky: bool = False) -> asyncio.Future[R]:
        """Queue one request; the future raises StoreUnavailable if the database does not take it.

        Args:
            bulky: it may read or write thousands of rows.
        """
        future: asyncio.Future[R] = self._loop.create_future()
        if self._closing:
            future.set_exception(StoreUnavailable("the store is closed"))
        else:
            self._jobs.append(_Job(operation, argument, bulky, future))
            self._wanted.set()
        return future

    async def close(self) -> None:
        """Finish what is queued, then let go of the connection."""
        self._closing = True
        self._wanted.set()
        await self._task
        await self._transactions.close()

    async def _run(self) -> None:
        crowded = False
        while True:
            await self._wanted.wait()
            if crowded and not self._closing:
                await asyncio.sleep(_LINGER)
            batch, self._jobs = self._jobs[:_BATCH], self._jobs[_BATCH:]
            if batch:
                crowded = len(batch) > 1
                await self._write(batch)
                for job in batch:
                    _resolve(job)
            elif self._closing:
                return
            else:
                self._wanted.clear()

    async def _write(self, batch: list[_Job]) -> None:
        bulky = any(job.bulky for job in batch)
        run = self._transactions.run
        began = self._loop.time()
        try:
            try:
                await run(partial(_together, batch), bulky=bulky)
            except StoreUnavailable:
                raise
            except Exception as first:  # noqa: BLE001 - whatever it was, each request learns its own fault
                log.debug("a shared transaction failed, each request is tried alone: %r", first)
                await run(partial(self._apart, batch), bulky=bulky)
        except Exception as error:  # noqa: BLE001 - nothing was committed, and every request must hear of it
            for job in batch:
                job.outcome = self._translate(error)
        else:
            self.commit_seconds.observe(self._loop.time() - began)
            self.commit_requests.observe(len(batch))

    def _apart(self, batch: list[_Job], connection: Connection) -> None:
        for job in batch:
            savepoint = connection.begin_nested()
            try:
                _apply(connection, job.operation, [job])
                cursor_of(connection).finish()
                savepoint.commit()
            except Exception as error:
                if self._transactions.may_pass(error):
                    raise
                try:
                    savepoint.rollback()
                except DBAPIError:
                    # On a full disk SQLite undoes the whole transaction, earlier requests with it.
                    raise error from None
                job.outcome = self._translate(error)

    def _translate(self, error: Exception) -> Exception:
        fault = database_fault(self._engine, error)
        return (
            error
            if fault is None
            else StoreUnavailable(f"the database does not take writes: {on_one_line(fault)}")
        )


def _together(batch: list[_Job], connection: Connection) -> None:
    groups: dict[Operation[Any, Any], list[_Job]] = {}
    for job in batch:
        groups.setdefault(job.operation, []).append(job)
    for operation, jobs in groups.items():
        _apply(connection, operation, jobs)


def _apply(connection: Connection, operation: Operation[Any, Any], jobs: list[_Job]) -> None:
    for job, outcome in zip(jobs, operation(connection, [job.argument for job in jobs]), strict=True):
        job.outcome = outcome


def _resolve(job: _Job) -> None:
    if job.future.done():
        return  # the caller has gone; the commit stands
    if isinstance(job.outcome, Exception):
        job.future.set_exception(job.outcome)
    else:
        job.future.set_result(job.outcome)
