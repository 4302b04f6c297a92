"""The seam between the service's busiest statements and the database that runs them.

Each statement is written once, in SQL that SQLite and PostgreSQL both take, with two marks: `?` stands for
a value, and `each(?)` for a list of texts as rows of one column, `value`. What only one of them needs is a
method here: SQLite lets one transaction write at a time, so locks are PostgreSQL's alone. All other queries
are SQLAlchemy's constructs, which fit both as they are.
"""

from __future__ import annotations

import hashlib
import json
from abc import ABC, abstractmethod
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from sqlalchemy import Connection
    from sqlalchemy.engine.interfaces import DBAPICursor

WAITING_CHANNEL = "briscola_waiting"
"""Where PostgreSQL tells every process that deliveries wait which nobody holds."""


_LOCK = "SELECT count(pg_advisory_xact_lock(value)) FROM unnest(?::bigint[]) AS each(value)"
_LOCK_SHARED = "SELECT count(pg_advisory_xact_lock_shared(value)) FROM unnest(?::bigint[]) AS each(value)"


@dataclass(frozen=True, slots=True)
class Insert:
    """Where rows go.

    Attributes:
        columns: their names, by commas.
        conflict: the clause ON CONFLICT, if there is one.
    """

    table: str
    columns: str
    conflict: str = ""


class Cursor(Protocol):
    """Runs statements in the transaction of one connection."""

    def fetch(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Run a statement and return its rows."""

    def run(self, statement: str, *values: object) -> None:
        """Run a statement that returns nothing."""

    def run_many(self, statement: str, rows: Sequence[Sequence[object]]) -> None:
        """Run a statement once for each row of values."""

    def insert(self, into: Insert, rows: Sequence[Sequence[object]]) -> None:
        """Insert rows into a table, a value for each of its columns that are named."""

    def lock(self, names: Iterable[str]) -> None:
        """Keep every other transaction that locks one of these names waiting until this one ends."""

    def lock_shared(self, names: Iterable[str]) -> None:
        """Likewise, but those wait alone that lock the name for themselves."""

    def try_lock(self, name: str) -> bool:
        """Lock a name unless another transaction has; whether this one has it now."""

    def next_seqs(self, last: int, count: int) -> Sequence[int]:
        """The numbers of the next events; `last` is the highest that this transaction sees."""

    def tell_waiting(self) -> None:
        """Once this transaction has committed, have every process look for deliveries that nobody holds."""


def cursor_of(connection: Connection) -> Cursor:
    """A cursor in the connection's transaction."""
    cursor = connection.connection.cursor()
    return _SqliteCursor(cursor) if connection.dialect.name == "sqlite" else _PostgresCursor(cursor)


class _Cursor(ABC):
    """What both have in common."""

    def __init__(self, cursor: DBAPICursor) -> None:
        self._cursor = cursor

    def fetch(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        self.run(statement, *values)
        return [*self._cursor.fetchall()]

    @abstractmethod
    def run(self, statement: str, *values: object) -> None: ...


class _SqliteCursor(_Cursor):
    def run(self, statement: str, *values: object) -> None:
        self._cursor.execute(
            _for_sqlite(statement), [json.dumps(v) if isinstance(v, list) else v for v in values]
        )

    def run_many(self, statement: str, rows: Sequence[Sequence[object]]) -> None:
        self._cursor.executemany(statement, rows)

    def insert(self, into: Insert, rows: Sequence[Sequence[object]]) -> None:
        self._cursor.executemany(_sqlite_insert(into), rows)

    def lock(self, names: Iterable[str]) -> None:
        pass

    def lock_shared(self, names: Iterable[str]) -> None:
        pass

    def try_lock(self, name: str) -> bool:
        return True

    def next_seqs(self, last: int, count: int) -> Sequence[int]:
        return range(last + 1, last + 1 + count)

    def tell_waiting(self) -> None:
        pass


class _PostgresCursor(_Cursor):
    def run(self, statement: str, *values: object) -> None:
        self._cursor.execute(_for_postgres(statement), values)

    def run_many(self, statement: str, rows: Sequence[Sequence[object]]) -> None:
        if rows:
            self._cursor.executemany(_for_postgres(statement), rows)

    def insert(self, into: Insert, rows: Sequence[Sequence[object]]) -> None:
        if rows:
            columns = into.columns.split(", ")
            self.run(
                _postgres_insert(into),
                orjson.dumps([dict(zip(columns, row, strict=True)) for row in rows]).decode(),
            )

    def lock(self, names: Iterable[str]) -> None:
        self._lock(_LOCK, names)

    def lock_shared(self, names: Iterable[str]) -> None:
        self._lock(_LOCK_SHARED, names)

    def _lock(self, statement: str, names: Iterable[str]) -> None:
        # In one order in every process, so that no two wait for each other.
        if numbers := sorted({_lock_number(name) for name in names}):
            self.run(statement, numbers)

    def try_lock(self, name: str) -> bool:
        return bool(self.fetch("SELECT pg_try_advisory_xact_lock(?::bigint)", _lock_number(name))[0][0])

    def next_seqs(self, last: int, count: int) -> Sequence[int]:
        # `last` may be overtaken: other processes write at the same time.
        return [
            seq for (seq,) in self.fetch("SELECT nextval('event_seq_seq') FROM generate_series(1, ?)", count)
        ]

    def tell_waiting(self) -> None:
        self.run(f"NOTIFY {WAITING_CHANNEL}")


@cache
def _for_sqlite(statement: str) -> str:
    return statement.replace("each(?)", "(SELECT value FROM json_each(?)) AS each")


@cache
def _sqlite_insert(into: Insert) -> str:
    values = ", ".join("?" for _ in into.columns.split(", "))
    return f"INSERT INTO {into.table} ({into.columns}) VALUES ({values}) {into.conflict}"  # noqa: S608 - constants


@cache
def _postgres_insert(into: Insert) -> str:
    """One statement, and one journey, for all rows: as a JSON list, whose types are the table's."""
    # Not NULL::table, because `name` is a type of PostgreSQL's own too.
    row = f"(SELECT each FROM {into.table} AS each LIMIT 0)"  # noqa: S608 - constants
    rows = f"json_populate_recordset({row}, ?::json)"
    return f"INSERT INTO {into.table} ({into.columns}) SELECT {into.columns} FROM {rows} {into.conflict}"  # noqa: S608 - constants


@cache
def _for_postgres(statement: str) -> str:
    return statement.replace("each(?)", "unnest(?::text[]) AS each(value)").replace("?", "%s")


def _lock_number(name: str) -> int:
    """The number of an advisory lock, 64 bits; two names that share one wait for each other needlessly."""
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), signed=True)
