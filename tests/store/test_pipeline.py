"""Which statements travel together to PostgreSQL, and what comes of those that fail."""

from __future__ import annotations

import asyncio
import logging
import threading
import time
from contextlib import contextmanager
from typing import TYPE_CHECKING, Any

import psycopg
import pytest

from app.store import idempotency, journal, names
from app.store.cursor import Insert, cursor_of
from app.store.journal import Signed
from app.store.store import Store
from tests.service import rows
from tests.store.players import make_ledger, opened, player, request

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import Connection

    from app.store.database import Database
    from tests.postgres import PostgresServer

NAMES = Insert("name", "d, owner, owned_since, banned")
ALICE = ("alice", "key:1", 0, False)


@pytest.fixture
def url(postgres: PostgresServer) -> Iterator[str]:
    with postgres.database("TEMPLATE scores") as address:
        yield address


@pytest.fixture
def database(url: str) -> Iterator[Database]:
    with opened(url) as made:
        yield made


@pytest.fixture
def journeys(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """One entry for each journey of a pipeline to the server."""
    made: list[str] = []
    enter = psycopg.Connection.pipeline

    @contextmanager
    def pipeline(connection: psycopg.Connection[Any]) -> Iterator[psycopg.Pipeline]:
        made.append("pipeline")
        with enter(connection) as entered:
            yield entered

    monkeypatch.setattr(psycopg.Connection, "pipeline", pipeline)
    return made


def test_what_is_asked_before_an_answer_is_needed_shares_a_journey(
    database: Database, journeys: list[str]
) -> None:
    with database.writer.begin() as connection:
        journeys.clear()
        cursor = cursor_of(connection)
        cursor.run("SELECT 1")
        first, second = cursor.ask("SELECT ?::int", 2), cursor.ask("SELECT 3")
        assert journeys == []
        assert second() == [(3,)]
        assert first() == [(2,)]
        assert len(journeys) == 1


async def test_a_batch_of_posts_takes_two_journeys(database: Database, journeys: list[str]) -> None:
    """One that reads, and one that writes and commits."""
    ledger = make_ledger(database, time.time)
    store = Store(database)
    await store.write(ledger.append, request(player(1), "warm", 1))
    journeys.clear()
    answers = await asyncio.gather(
        *(store.write(ledger.append, request(player(1), f"alice{n}", 1)) for n in range(5))
    )
    assert all(isinstance(answer, Signed) for answer in answers)
    assert len(journeys) == 2
    await store.close()


async def test_commit_does_not_travel_before_the_mark_is_known_to_be_there(
    database: Database, url: str, journeys: list[str]
) -> None:
    def write(connection: Connection, ds: Sequence[str]) -> list[None]:
        journeys.clear()
        cursor_of(connection).insert(NAMES, [(d, None, None, True) for d in ds])
        assert journeys == []
        return [None] * len(ds)

    store = Store(database)
    await store.write(write, "alice")
    assert len(journeys) == 1, "mark and rows; COMMIT went alone"
    assert rows(url, "SELECT d FROM name") == [("alice",)]
    await store.close()


def test_what_is_asked_with_a_lock_sees_what_was_committed_while_it_was_waited_for(
    database: Database, url: str
) -> None:
    found: list[list[tuple[Any, ...]]] = []

    def read() -> None:
        with opened(url) as other, other.writer.begin() as connection:
            cursor = cursor_of(connection)
            cursor.lock(["alice"])
            owner = cursor.ask("SELECT owner FROM name")
            found.append(owner())

    thread = threading.Thread(target=read)
    with database.writer.begin() as connection:
        cursor = cursor_of(connection)
        cursor.lock(["alice"])
        cursor.finish()
        thread.start()
        waits = "SELECT count(*) FROM pg_locks WHERE locktype = 'advisory' AND NOT granted"
        while rows(url, waits) == [(0,)]:
            pass
        cursor.insert(NAMES, [ALICE])
    thread.join()
    assert found == [[("key:1",)]]


@pytest.mark.parametrize("after", [0, 30])
def test_the_first_fault_is_raised_and_nothing_is_committed(
    database: Database, url: str, after: int, caplog: pytest.LogCaptureFixture
) -> None:
    def fail() -> None:
        with database.writer.begin() as connection:
            cursor = cursor_of(connection)
            cursor.insert(NAMES, [ALICE])
            cursor.run("SELECT 1 / 0")
            for _ in range(after):
                cursor.run("SELECT pg_sleep(0.001)")

    with pytest.raises(psycopg.errors.DivisionByZero):
        fail()
    assert rows(url, "SELECT d FROM name") == []
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
    with database.writer.begin() as connection:
        assert cursor_of(connection).fetch("SELECT 7") == [(7,)]


def test_what_is_rolled_back_is_not_sent(database: Database, url: str) -> None:
    with database.writer.begin() as connection:
        cursor = cursor_of(connection)
        cursor.insert(NAMES, [ALICE])
        savepoint = connection.begin_nested()
        cursor.run("SELECT 1 / 0")
        savepoint.rollback()
    assert rows(url, "SELECT d FROM name") == [("alice",)]
    with database.writer.connect() as connection:
        transaction = connection.begin()
        cursor_of(connection).run("SELECT 1 / 0")
        transaction.rollback()
        with connection.begin():
            assert cursor_of(connection).fetch("SELECT 7") == [(7,)]


def test_statements_of_sqlalchemy_keep_their_place(database: Database) -> None:
    with database.writer.begin() as connection:
        cursor_of(connection).insert(NAMES, [ALICE])
        assert connection.exec_driver_sql("SELECT owner FROM name").scalar_one() == "key:1"


def test_a_connection_that_is_lost_with_its_commit_is_replaced(
    database: Database, url: str, caplog: pytest.LogCaptureFixture
) -> None:
    def lose() -> None:
        with database.writer.begin() as connection:
            cursor = cursor_of(connection)
            ((pid,),) = cursor.fetch("SELECT pg_backend_pid()")
            rows(url, "SELECT pg_terminate_backend(?)", pid)
            cursor.insert(NAMES, [ALICE])

    with pytest.raises(psycopg.OperationalError):
        lose()
    assert [record for record in caplog.records if record.levelno >= logging.WARNING] == []
    with database.writer.begin() as connection:
        assert cursor_of(connection).fetch("SELECT d FROM name") == []


@pytest.mark.parametrize(
    "query", [journal._SELECT_NEWEST, journal._SUPERSEDE, names._SELECT, idempotency._SELECT]
)
def test_a_plan_for_an_empty_table_finds_rows_by_their_keys_too(database: Database, query: str) -> None:
    """It is kept while the table grows."""
    with database.writer.begin() as connection:
        plan = "\n".join(line for (line,) in cursor_of(connection).fetch(f"EXPLAIN {query}", ["1", "2"]))
    assert "Index" in plan
    assert "Seq Scan" not in plan
