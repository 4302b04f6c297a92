"""The seam: one statement does the same on both databases."""

from __future__ import annotations

import threading
from typing import TYPE_CHECKING

import pytest

from app.store.cursor import SKIP_LOCKED, Insert, Update, cursor_of
from tests.service import rows
from tests.store.players import opened

if TYPE_CHECKING:
    from app.store.database import Database

NAMES = Insert("name", "d, owner, owned_since, banned")
ROWS = [("ann\u00e9", "key:1", 2**40, False), ("b'b", None, None, True), ('q"?', "each(?)", 0, False)]


def test_rows_come_back_as_they_went_in(database: Database, url: str) -> None:
    with database.writer.begin() as connection:
        cursor = cursor_of(connection)
        cursor.insert(NAMES, ROWS)
        cursor.insert(NAMES, [])
        query = (
            "SELECT d, owner, owned_since, banned FROM name WHERE d IN (SELECT value FROM each(?)) ORDER BY d"
        )
        found = cursor.fetch(query, [row[0] for row in ROWS])
        assert found == sorted(ROWS)
        assert cursor.fetch(query, ["b'b", "nobody"]) == [ROWS[1]]
        assert cursor.fetch(query, []) == []
    assert rows(url, "SELECT count(*) FROM name WHERE owner = ?", "each(?)") == [(1,)]


def test_rows_of_values_change_rows(database: Database, url: str) -> None:
    how = Update("d text, owner text", "UPDATE name SET owner = each.owner FROM each WHERE name.d = each.d")
    with database.writer.begin() as connection:
        cursor = cursor_of(connection)
        cursor.insert(NAMES, ROWS)
        cursor.update(how, [("b'b", "x"), ('q"?', "y")])
        cursor.update(how, [])
    assert rows(url, "SELECT owner FROM name ORDER BY owner") == [("key:1",), ("x",), ("y",)]


def test_a_name_is_locked_for_one_transaction_at_a_time(url: str) -> None:
    """On either database: SQLite lets only one write anyway."""
    order: list[str] = []
    entered = threading.Event()

    def second() -> None:
        with opened(url) as other:
            entered.wait(60)
            with other.writer.begin() as connection:
                cursor = cursor_of(connection)
                cursor.lock(["b", "a"])
                cursor.fetch("SELECT 1")
                order.append("second")

    thread = threading.Thread(target=second)
    with opened(url) as one:
        thread.start()
        with one.writer.begin() as connection:
            cursor = cursor_of(connection)
            cursor.lock(["a", "b"])
            cursor.fetch("SELECT 1")
            entered.set()
            thread.join(0.2)
            order.append("first")
        thread.join(60)
    assert order == ["first", "second"]


@pytest.mark.parametrize("url", ["postgresql"], indirect=True)
def test_shared_locks_and_rows_that_are_not_waited_for(database: Database, url: str) -> None:
    with database.writer.begin() as connection:
        cursor_of(connection).insert(NAMES, ROWS)
    with opened(url) as other, database.writer.begin() as mine, other.writer.begin() as theirs:
        cursor_of(mine).lock_shared(["key"])
        cursor_of(theirs).lock_shared(["key"])
        first = f"SELECT d FROM name WHERE owned_since IS NULL {SKIP_LOCKED}"
        rest = f"SELECT d FROM name {SKIP_LOCKED}"
        assert cursor_of(mine).fetch(first) == [("b'b",)]
        assert {d for (d,) in cursor_of(theirs).fetch(rest)} == {ROWS[0][0], ROWS[2][0]}


def test_numbers_of_events_are_given_once(database: Database) -> None:
    with database.writer.begin() as connection:
        cursor = cursor_of(connection)
        first = list(cursor.ask_seqs(3)(0))
        second = list(cursor.ask_seqs(2)(first[-1]))
    assert first + second == sorted({*first, *second})
    assert len(first + second) == 5
