"""PostgreSQL: several processes write at the same time, each address by one of them at a time."""

from __future__ import annotations

import asyncio
import logging
import time
import uuid
from concurrent.futures import ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import psycopg
from sqlalchemy import create_engine, event
from sqlalchemy.exc import DBAPIError

from app.store.backend import READERS
from app.store.cursor import WAITING_CHANNEL, cursor_of
from app.store.errors import OutcomeUnknown, StoreUnavailable, StoreUnusable, on_one_line
from app.store.pipeline import give_pipelines

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection, Engine
    from sqlalchemy.engine import URL
    from sqlalchemy.engine.interfaces import IsolationLevel

OLDEST = 14
"""The oldest major version that is still maintained."""

_CONNECT: dict[str, Any] = {
    "connect_timeout": 5,
    # A server that is gone without a word is noticed within some 15 seconds.
    "keepalives_idle": 5,
    "keepalives_interval": 3,
    "keepalives_count": 3,
    "tcp_user_timeout": 15_000,
    "application_name": "briscola-scores",
    "client_encoding": "UTF8",  # whatever the role, the database or PGCLIENTENCODING say
}
# A process that stops in mid-transaction does not hold up the others for longer.
_SESSION = """
    SELECT set_config('lock_timeout', '5s', false),
           set_config('idle_in_transaction_session_timeout', '10s', false),
           set_config('synchronous_commit',
                      replace(current_setting('synchronous_commit'), 'off', 'on'), false)
"""
# The writer finds its rows by their keys. A plan is kept, and one that was made while a table was small would
# go on reading all of it as it grows.
_BY_KEYS = """
    SELECT set_config('enable_seqscan', 'off', false), set_config('enable_hashjoin', 'off', false),
           set_config('enable_mergejoin', 'off', false), set_config('jit', 'off', false)
"""
# https://www.postgresql.org/docs/current/errcodes-appendix.html
_PASSING = frozenset({"40001", "40P01"})  # serialization failure, deadlock
# Shut down, crashed, starting; ended because it was idle, in a transaction or outside of one.
_ENDED = frozenset({"57P01", "57P02", "57P03", "25P03", "57P05"})
_READ_ONLY = "25006"  # a session may stay so: a new one is told anew whether it may write
_LOST = _ENDED | {_READ_ONLY}
_HELD = "55P03"  # a lock was not to be had in time

_ATTEMPTS = 5
_PAUSE = 0.05
_UNKNOWN_SECONDS = 15.0
_LISTEN_AGAIN = 1.0

# A transaction leaves its number behind, so that after a lost connection it can be told whether it committed.
_MARK = """
    INSERT INTO commit_mark (writer, number, at) VALUES (?, ?, ?)
    ON CONFLICT (writer) DO UPDATE SET number = excluded.number, at = excluded.at RETURNING number
"""
# Waits for a transaction that still commits.
_LAST_MARK = """
    INSERT INTO commit_mark (writer, number, at) VALUES (?, 0, ?)
    ON CONFLICT (writer) DO UPDATE SET at = excluded.at RETURNING number
"""
_PRUNE_MARKS = "DELETE FROM commit_mark WHERE at < ?"
_MARK_KEPT = 24 * 60 * 60

log = logging.getLogger(__name__)


class Postgresql:
    """The backend on a server."""

    def __init__(self, url: URL) -> None:
        url = url.set(drivername="postgresql+psycopg")
        self.name = url.render_as_string(hide_password=True).replace("+psycopg", "", 1).partition("?")[0]
        self._url = url
        self.writer = _engine(url, _SESSION, _BY_KEYS, pool_size=1)
        self.reader = _engine(url, _SESSION, pool_size=READERS, isolation_level="REPEATABLE READ")

    def check(self, connection: Connection) -> None:
        """Check version and encoding, and wait for another process that migrates."""
        query = (
            "SELECT current_setting('server_version_num')::int / 10000, current_setting('server_encoding')"
        )
        version, encoding = connection.exec_driver_sql(query).one()
        if version < OLDEST:
            raise StoreUnusable(
                f"the database {self.name!r} is on PostgreSQL {version}: {OLDEST} or newer is needed"
            )
        if encoding != "UTF8":
            raise StoreUnusable(
                f"the database {self.name!r} is encoded in {encoding}: make one with CREATE DATABASE … "
                "ENCODING 'UTF8' TEMPLATE template0"
            )
        cursor_of(connection).lock(["migration"])

    def hint(self, reason: object) -> str:
        """Rights, or the address."""
        if getattr(reason, "sqlstate", None) == "42501":
            return (
                ": let the role make tables (GRANT CREATE ON SCHEMA public TO …), "
                "or run `briscola-scores migrate` once as a role that may"
            )
        return ": check that the server runs, and BRISCOLA_DATABASE_URL"

    def transactions(self) -> PostgresqlTransactions:
        """The writer's transactions."""
        return PostgresqlTransactions(self.writer)

    def lost(self, error: Exception) -> bool:
        """Whether the connection is gone, and another one may do."""
        return _lost(error)

    async def listen(self, wake: Callable[[], None]) -> None:
        """Call `wake` on every notification; it connects again by itself and looks once when it has."""
        _, arguments = self.writer.dialect.create_connect_args(self._url)
        while True:
            try:
                connecting = psycopg.AsyncConnection.connect(**{**arguments, **_CONNECT}, autocommit=True)
                async with await connecting as connection:
                    await connection.execute(f"LISTEN {WAITING_CHANNEL}")
                    wake()
                    async for _ in connection.notifies():
                        wake()
            except psycopg.Error as error:
                log.warning("not told by the database of what other processes store: %s", on_one_line(error))
            await asyncio.sleep(_LISTEN_AGAIN)


class PostgresqlTransactions:
    """The writer's transactions, on a thread, because they wait for the server: to read, and to commit.

    A transaction that met a deadlock, or whose connection was lost before it was told to commit, runs again.
    If the connection is lost as it commits, the mark that it left says whether it did.
    """

    def __init__(self, engine: Engine) -> None:
        self._engine = engine
        self._writer = uuid.uuid4().hex
        self._number = 0
        self._loop = asyncio.get_running_loop()
        self._thread = ThreadPoolExecutor(1, thread_name_prefix="store-write")

    async def run(self, work: Callable[[Connection], None], *, bulky: bool) -> None:
        """Run work in a transaction; see `Transactions`."""
        await self._loop.run_in_executor(self._thread, self._run, work)

    def may_pass(self, error: Exception) -> bool:
        """Whether the same work may succeed in another transaction."""
        return _state(error) in _PASSING or _lost(error)

    async def close(self) -> None:
        """Let go of the connection."""
        self._thread.shutdown()

    def _run(self, work: Callable[[Connection], None]) -> None:
        for attempt in range(1, _ATTEMPTS + 1):
            try:
                return self._once(work)
            except StoreUnavailable:
                raise
            except Exception as error:
                held = _state(error) == _HELD
                if not held and not self.may_pass(error):
                    raise
                if held or attempt == _ATTEMPTS:
                    raise StoreUnavailable(f"the database does not take writes: {_said(error)}") from None
                log.debug("a transaction is run again: %r", _cause(error))
            time.sleep(_PAUSE * attempt)
        return None

    def _once(self, work: Callable[[Connection], None]) -> None:
        self._number += 1
        with self._connect() as connection:
            try:
                transaction = connection.begin()
                marked = cursor_of(connection).ask(_MARK, self._writer, self._number, time.time())
                work(connection)
                marked()  # before COMMIT is on its way: whoever looks for the mark waits for this transaction
            except Exception as error:
                if _lost(error):
                    connection.invalidate()
                raise
            try:
                transaction.commit()
            except Exception as error:
                if not _lost(error):
                    raise
                connection.invalidate()
                if not self._has_committed(self._number, error):
                    raise

    def _connect(self) -> Connection:
        try:
            return self._engine.connect()
        except (DBAPIError, psycopg.Error) as error:
            raise StoreUnavailable(f"the database does not answer: {_said(error)}") from None

    def _has_committed(self, number: int, error: Exception) -> bool:
        """Whether a transaction committed whose connection was lost meanwhile.

        Raises:
            OutcomeUnknown: the server does not come back soon.
        """
        deadline = time.monotonic() + _UNKNOWN_SECONDS
        while True:
            try:
                with self._connect() as connection, connection.begin():
                    ((last,),) = cursor_of(connection).fetch(_LAST_MARK, self._writer, time.time())
                    cursor_of(connection).run(_PRUNE_MARKS, time.time() - _MARK_KEPT)
                    return bool(last == number)
            except (StoreUnavailable, DBAPIError, psycopg.Error):
                if time.monotonic() > deadline:
                    raise OutcomeUnknown(
                        f"the database was lost as it was told to commit: {_said(error)}"
                    ) from None
            time.sleep(_PAUSE * 4)


def _engine(
    url: URL, *settings: str, pool_size: int, isolation_level: IsolationLevel = "READ COMMITTED"
) -> Engine:
    engine = create_engine(
        url,
        pool_size=pool_size,
        max_overflow=0,
        isolation_level=isolation_level,
        connect_args=dict(_CONNECT),
    )

    give_pipelines(engine)

    @event.listens_for(engine, "connect")
    def configure(connection: Any, _record: object) -> None:
        try:
            for setting in settings:
                connection.execute(setting)
            connection.commit()
        except psycopg.Error:
            connection.close()
            raise

    return engine


def _cause(error: Exception) -> BaseException | None:
    return error.orig if isinstance(error, DBAPIError) else error


def _said(error: Exception) -> str:
    return on_one_line(_cause(error))


def _state(error: Exception) -> str | None:
    cause = _cause(error)
    return cause.sqlstate if isinstance(cause, psycopg.Error) else None


def _lost(error: Exception) -> bool:
    """Whether the driver's error means that the connection is gone, or good for reading alone."""
    cause = _cause(error)
    if not isinstance(cause, psycopg.Error):
        return False
    if cause.sqlstate is None:
        return isinstance(cause, psycopg.OperationalError | psycopg.InterfaceError)
    return cause.sqlstate.startswith("08") or cause.sqlstate in _LOST
