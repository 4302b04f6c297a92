"""The seam between the service's busiest statements and the database that runs them.

What a statement answers may be had later: on PostgreSQL all that is asked before the first answer is needed
shares one journey to the server, and what answers nothing goes with the next one (see `pipeline`).

Each statement is written once, in SQL that SQLite and PostgreSQL both take, with two marks: `?` stands for
a value, and `each(?)` for a list of texts as rows of one column, `value`. What only one of them needs is a
method here, or is left out for the other: SQLite lets one transaction write at a time, so locks are
PostgreSQL's alone. All other queries are SQLAlchemy's constructs, which fit both as they are.
"""

from __future__ import annotations

import hashlib
import json
import re
from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import TYPE_CHECKING, Any, Protocol, TypeVar

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from sqlite3 import Cursor as SqliteCursor

    from sqlalchemy import Connection

    from app.store.pipeline import Pipeline

R = TypeVar("R")

Later = Callable[[], R]
"""What a database is asked for; calling it waits for the answer."""
Rows = Later[list[tuple[Any, ...]]]

PIPELINE = "pipeline"
"""Under which name a connection to PostgreSQL keeps its own."""

WAITING_CHANNEL = "briscola_waiting"
"""Where PostgreSQL tells every process that deliveries wait which nobody holds."""

SKIP_LOCKED = "FOR UPDATE SKIP LOCKED"
"""Rows that another transaction is about to change or delete are left to it."""

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


@dataclass(frozen=True, slots=True)
class Update:
    """How rows of values change rows of a table; no two of them change the same one.

    Attributes:
        columns: the values' names and PostgreSQL's types, by commas.
        statement: an UPDATE with the mark `FROM each` before its WHERE; `each.NAME` stands for a value.
    """

    columns: str
    statement: str


class Cursor(Protocol):
    """Runs statements in the transaction of one connection, in the order in which they are given."""

    def ask(self, statement: str, *values: object) -> Rows:
        """Run a statement whose rows are needed later."""

    def fetch(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        """Run a statement and return its rows."""

    def run(self, statement: str, *values: object) -> None:
        """Run a statement that returns nothing."""

    def finish(self) -> None:
        """See that all that was run has succeeded, which otherwise shows by the commit at the latest."""

    def insert(self, into: Insert, rows: Sequence[Sequence[object]]) -> None:
        """Insert rows into a table, a value for each of its columns that are named."""

    def update(self, how: Update, rows: Sequence[Sequence[object]]) -> None:
        """Change the rows of a table for which there are rows of values."""

    def lock(self, names: Iterable[str]) -> None:
        """Keep every other transaction that locks one of these names waiting until this one ends.

        All that is run or asked afterwards sees what those before have committed.
        """

    def lock_shared(self, names: Iterable[str]) -> None:
        """Likewise, but those wait alone that lock the name for themselves."""

    def ask_seqs(self, count: int) -> Callable[[int], Sequence[int]]:
        """The numbers of the next events, given the highest that this transaction sees."""

    def tell_waiting(self) -> None:
        """Once this transaction has committed, have every process look for deliveries that nobody holds."""


def cursor_of(connection: Connection) -> Cursor:
    """A cursor in the connection's transaction."""
    if connection.dialect.name == "sqlite":
        return _SqliteCursor(connection.connection.cursor())  # type: ignore[arg-type]  # the driver's own
    return _PostgresCursor(connection.info[PIPELINE])


class _SqliteCursor:
    def __init__(self, cursor: SqliteCursor) -> None:
        self._cursor = cursor

    def ask(self, statement: str, *values: object) -> Rows:
        rows = self.fetch(statement, *values)
        return lambda: rows

    def fetch(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        self.run(statement, *values)
        return self._cursor.fetchall()

    def run(self, statement: str, *values: object) -> None:
        self._cursor.execute(
            _for_sqlite(statement), [json.dumps(v) if isinstance(v, list) else v for v in values]
        )

    def finish(self) -> None:
        pass

    def insert(self, into: Insert, rows: Sequence[Sequence[object]]) -> None:
        self._cursor.executemany(_sqlite_insert(into), rows)

    def update(self, how: Update, rows: Sequence[Sequence[object]]) -> None:
        self._cursor.executemany(_sqlite_update(how), rows)

    def lock(self, names: Iterable[str]) -> None:
        pass

    def lock_shared(self, names: Iterable[str]) -> None:
        pass

    def ask_seqs(self, count: int) -> Callable[[int], Sequence[int]]:
        return lambda last: range(last + 1, last + 1 + count)

    def tell_waiting(self) -> None:
        pass


class _PostgresCursor:
    def __init__(self, pipeline: Pipeline) -> None:
        self._pipeline = pipeline

    def ask(self, statement: str, *values: object) -> Rows:
        return self._pipeline.add(_for_postgres(statement), values)

    def fetch(self, statement: str, *values: object) -> list[tuple[Any, ...]]:
        return self.ask(statement, *values)()

    def run(self, statement: str, *values: object) -> None:
        self.ask(statement, *values)

    def finish(self) -> None:
        self._pipeline.send()

    def insert(self, into: Insert, rows: Sequence[Sequence[object]]) -> None:
        self._run_rows(_postgres_insert(into), into.columns.split(", "), rows)

    def update(self, how: Update, rows: Sequence[Sequence[object]]) -> None:
        self._run_rows(_postgres_update(how), _names(how), rows)

    def _run_rows(self, statement: str, columns: Sequence[str], rows: Sequence[Sequence[object]]) -> None:
        """One statement for all rows, as a JSON list."""
        if rows:
            objects = [dict(zip(columns, row, strict=True)) for row in rows]
            self.run(statement, orjson.dumps(objects).decode())

    def lock(self, names: Iterable[str]) -> None:
        self._lock(_LOCK, names)

    def lock_shared(self, names: Iterable[str]) -> None:
        self._lock(_LOCK_SHARED, names)

    def _lock(self, statement: str, names: Iterable[str]) -> None:
        # In one order in every process, so that no two wait for each other.
        if numbers := sorted({_lock_number(name) for name in names}):
            self.run(statement, numbers)

    def ask_seqs(self, count: int) -> Callable[[int], Sequence[int]]:
        # The highest that is seen may be overtaken: other processes write at the same time.
        rows = self.ask("SELECT nextval('event_seq_seq') FROM generate_series(1, ?)", count)
        return lambda _: [seq for (seq,) in rows()]

    def tell_waiting(self) -> None:
        self.run(f"NOTIFY {WAITING_CHANNEL}")


@cache
def _for_sqlite(statement: str) -> str:
    statement = statement.replace("each(?)", "(SELECT value FROM json_each(?)) AS each")
    return statement.replace(SKIP_LOCKED, "")


@cache
def _sqlite_insert(into: Insert) -> str:
    values = ", ".join("?" for _ in into.columns.split(", "))
    return f"INSERT INTO {into.table} ({into.columns}) VALUES ({values}) {into.conflict}"  # noqa: S608 - constants


@cache
def _sqlite_update(how: Update) -> str:
    """The statement for one row, whose values are numbered."""
    numbers = {name: f"?{number}" for number, name in enumerate(_names(how), 1)}
    statement = how.statement.replace("FROM each", "")
    return re.sub(r"each\.(\w+)", lambda found: numbers[found[1]], statement)


def _names(how: Update) -> list[str]:
    return [column.split()[0] for column in how.columns.split(", ")]


@cache
def _postgres_insert(into: Insert) -> str:
    """The types of the values are the table's."""
    # Not NULL::table, because `name` is a type of PostgreSQL's own too.
    row = f"(SELECT each FROM {into.table} AS each LIMIT 0)"  # noqa: S608 - constants
    rows = f"json_populate_recordset({row}, ?::json)"
    return f"INSERT INTO {into.table} ({into.columns}) SELECT {into.columns} FROM {rows} {into.conflict}"  # noqa: S608 - constants


@cache
def _postgres_update(how: Update) -> str:
    return how.statement.replace("FROM each", f"FROM json_to_recordset(?::json) AS each({how.columns})")


@cache
def _for_postgres(statement: str) -> str:
    return statement.replace("each(?)", "unnest(?::text[]) AS each(value)").replace("?", "%s")


def _lock_number(name: str) -> int:
    """The number of an advisory lock, 64 bits; two names that share one wait for each other needlessly."""
    return int.from_bytes(hashlib.blake2b(name.encode(), digest_size=8).digest(), signed=True)
