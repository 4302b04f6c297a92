"""Group commit: who shares a commit, who fails alone, and that an answer means it is on disk."""

from __future__ import annotations

import asyncio
import threading
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import create_engine, event, text

from app.store import sqlite
from app.store.cursor import cursor_of
from app.store.database import Database
from app.store.errors import StoreUnavailable
from app.store.writer import Writer
from tests.service import rows

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Sequence

    from sqlalchemy import Connection


ON_SQLITE = pytest.mark.parametrize("url", ["sqlite"], indirect=True)


class Bench:
    """A writer on a table of one column, its commits counted, and a gate that holds it up."""

    def __init__(self, url: str) -> None:
        self.url = url
        self.database = Database(url)
        with self.database.writer.begin() as connection:
            connection.execute(text("CREATE TABLE note (word TEXT NOT NULL CHECK (word != 'bad'))"))
        self.commits: list[int] = []
        event.listen(self.database.writer, "commit", lambda _: self.commits.append(1))
        self.writer = Writer(self.database)
        self.entered, self.gate = threading.Event(), threading.Event()
        self.calls: list[list[str]] = []

    def note(self, connection: Connection, words: Sequence[str]) -> list[str | Exception]:
        self.calls.append(list(words))
        cursor = cursor_of(connection)
        answers: list[str | Exception] = []
        for word in words:
            if word == "refused":
                answers.append(ValueError(word))
                continue
            if word == "broken":
                raise KeyError(word)
            cursor.run("INSERT INTO note VALUES (?)", word)
            answers.append(word.upper())
        return answers

    def wait_at_gate(self, connection: Connection, arguments: Sequence[None]) -> list[None]:
        self.entered.set()
        assert self.gate.wait(60)
        return [*arguments]

    async def together(self, *words: str) -> list[Any]:
        """The outcomes of requests that all arrive while a commit is under way."""
        held = self.writer.submit(self.wait_at_gate, None, bulky=True)
        await asyncio.to_thread(self.entered.wait, 60)
        self.commits.clear()
        futures = [self.writer.submit(self.note, word) for word in words]
        self.gate.set()
        outcomes = await asyncio.gather(*futures, return_exceptions=True)
        await held
        return outcomes

    def words(self) -> list[str]:
        return [word for (word,) in rows(self.url, "SELECT word FROM note")]


@asynccontextmanager
async def bench(url: str) -> AsyncIterator[Bench]:
    made = Bench(url)
    try:
        yield made
    finally:
        made.gate.set()
        await made.writer.close()
        made.database.close()


async def test_an_answer_means_that_it_is_on_disk(url: str) -> None:
    async with bench(url) as it:
        assert await it.writer.submit(it.note, "hello") == "HELLO"
        assert it.words() == ["hello"]


async def test_requests_that_arrive_together_share_a_commit(url: str) -> None:
    async with bench(url) as it:
        words = [f"w{number}" for number in range(60)]
        assert await it.together(*words) == [word.upper() for word in words]
        assert it.calls == [words]
        assert len(it.commits) == 2  # the one that was under way, and the shared one
        assert it.words() == words


async def test_a_commit_is_shared_by_so_many_and_no_more(url: str) -> None:
    async with bench(url) as it:
        words = [f"w{number}" for number in range(600)]
        await it.together(*words)
        assert [len(call) for call in it.calls] == [64] * 9 + [24]
        assert it.words() == words


async def test_an_outcome_that_is_an_exception_fails_its_request_alone(url: str) -> None:
    async with bench(url) as it:
        one, refused, other = await it.together("one", "refused", "other")
        assert (one, other) == ("ONE", "OTHER")
        assert isinstance(refused, ValueError)
        assert len(it.calls) == 1
        assert it.words() == ["one", "other"]


async def test_a_request_that_breaks_the_batch_fails_alone(url: str) -> None:
    async with bench(url) as it:
        outcomes = await it.together("one", "broken", "two", "bad", "three")
        assert outcomes[0::2] == ["ONE", "TWO", "THREE"]
        assert isinstance(outcomes[1], KeyError)
        assert isinstance(outcomes[3], StoreUnavailable)
        assert "check constraint" in str(outcomes[3]).lower()
        assert "(bad)" not in str(outcomes[3]), "what PostgreSQL quotes of the row"
        assert it.words() == ["one", "two", "three"]
        assert len(it.commits) == 2, "one for the gate, one for all that were good"


async def test_what_a_failed_request_wrote_before_it_failed_is_undone(url: str) -> None:
    async with bench(url) as it:

        def half(connection: Connection, words: Sequence[str]) -> list[None]:
            it.note(connection, words)
            raise KeyError(words[0])

        with pytest.raises(KeyError):
            await it.writer.submit(half, "half")
        assert await it.writer.submit(it.note, "next") == "NEXT"
        assert it.words() == ["next"]


@ON_SQLITE
async def test_a_full_disk_fails_every_request_and_loses_none_that_was_answered(url: str) -> None:
    """SQLite undoes the whole transaction here, also what earlier savepoints had kept."""
    async with bench(url) as it:
        with it.database.reader.connect() as connection:
            pages = connection.execute(text("PRAGMA page_count")).scalar_one()

        def limit(connection: Connection, limits: Sequence[int]) -> list[None]:
            connection.execute(text(f"PRAGMA max_page_count = {limits[0]}"))
            return [None]

        await it.writer.submit(limit, pages + 1)
        words = [f"{number}" * 1500 for number in range(9)]
        outcomes = await it.together(*words)
        answered = [word for word, outcome in zip(words, outcomes, strict=True) if isinstance(outcome, str)]
        assert it.words() == answered
        failed = [outcome for outcome in outcomes if not isinstance(outcome, str)]
        assert failed
        assert all(isinstance(outcome, StoreUnavailable) for outcome in failed)
        assert all("full" in str(outcome) for outcome in failed)
        await it.writer.submit(limit, 1_000_000)
        assert await it.writer.submit(it.note, "after") == "AFTER"
        assert it.words() == [*answered, "after"]


@ON_SQLITE
async def test_a_locked_database_fails_every_request_once_and_is_taken_again_after(
    url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(sqlite, "_BUSY_SECONDS", 0)
    caplog.set_level("DEBUG")
    async with bench(url) as it:
        other = create_engine(url)
        with other.connect() as connection:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            with pytest.raises(StoreUnavailable, match="locked"):
                await it.writer.submit(it.note, "one")
            assert it.calls == []
            assert "tried alone" not in caplog.text, (
                "where no transaction can begin, nobody waits for another"
            )
            connection.rollback()
        other.dispose()
        assert await it.writer.submit(it.note, "two") == "TWO"
        assert it.words() == ["two"]


async def test_a_failing_commit_keeps_nothing(url: str) -> None:
    """A deferred constraint is checked at the commit itself."""
    async with bench(url) as it:
        await it.writer.submit(_make_deferred, None)
        with pytest.raises(StoreUnavailable, match=r"(?i)foreign key"):
            await it.writer.submit(_orphan, None)
        assert rows(it.url, "SELECT count(*) FROM child") == [(0,)]
        assert await it.writer.submit(it.note, "next") == "NEXT"


def _make_deferred(connection: Connection, arguments: Sequence[None]) -> list[None]:
    connection.exec_driver_sql("CREATE TABLE parent (id INTEGER PRIMARY KEY)")
    connection.exec_driver_sql(
        "CREATE TABLE child (parent INTEGER REFERENCES parent (id) DEFERRABLE INITIALLY DEFERRED)"
    )
    return [*arguments]


def _orphan(connection: Connection, arguments: Sequence[None]) -> list[None]:
    connection.exec_driver_sql("INSERT INTO child VALUES (7)")
    return [*arguments]


async def test_a_caller_that_goes_away_takes_nothing_with_it(url: str) -> None:
    async with bench(url) as it:
        held = it.writer.submit(it.wait_at_gate, None, bulky=True)
        await asyncio.to_thread(it.entered.wait, 60)
        gone, stays = it.writer.submit(it.note, "gone"), it.writer.submit(it.note, "stays")
        gone.cancel()
        it.gate.set()
        assert await stays == "STAYS"
        await held
        assert gone.cancelled()
        assert it.words() == ["gone", "stays"]


async def test_closing_finishes_what_is_queued(url: str) -> None:
    async with bench(url) as it:
        held = it.writer.submit(it.wait_at_gate, None, bulky=True)
        await asyncio.to_thread(it.entered.wait, 60)
        queued = [it.writer.submit(it.note, f"w{number}") for number in range(5)]
        closing = asyncio.create_task(it.writer.close())
        await asyncio.sleep(0)
        it.gate.set()
        await closing
        assert await asyncio.gather(*queued) == [f"W{number}" for number in range(5)]
        await held
        with pytest.raises(StoreUnavailable, match="closed"):
            await it.writer.submit(it.note, "late")
        assert len(it.words()) == 5


async def test_commits_are_counted_with_those_that_share_them(url: str) -> None:
    async with bench(url) as it:
        await asyncio.gather(*(it.writer.submit(it.note, word) for word in ("a", "b", "c")))
        await it.writer.submit(it.note, "d")
        requests, seconds = it.writer.commit_requests, it.writer.commit_seconds
        assert (sum(requests.counts), requests.total) == (2, 4)
        assert dict(zip(requests.bounds, requests.counts, strict=False)) == {
            1: 1, 2: 0, 4: 1, 8: 0, 16: 0, 32: 0, 64: 0
        }  # fmt: skip
        assert sum(seconds.counts) == 2
        assert 0 < seconds.total < 60
