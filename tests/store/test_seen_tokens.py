"""Used tokens: each is new once, in one statement for a batch, and forgotten long after it has lapsed."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sqlalchemy import func, select

from app.store.database import Database
from app.store.seen_tokens import SeenTokens, Token, TokenUsed
from app.store.tables import seen_token
from tests.clock import Clock

if TYPE_CHECKING:
    from collections.abc import Iterator

NOW = 1_700_000_000


@pytest.fixture(name="database")
def database_fixture(url: str) -> Iterator[Database]:
    database = Database(url)
    yield database
    database.close()


def tokens(*names: str, at: int = NOW) -> list[Token]:
    return [Token(name * 128, at) for name in names]


def use(database: Database, seen: SeenTokens, batch: list[Token]) -> str:
    """Which of a batch are new (n) and which were used (u)."""
    with database.writer.begin() as connection:
        return "".join("u" if isinstance(o, TokenUsed) else "n" for o in seen.use(connection, batch))


def test_each_is_new_once(database: Database) -> None:
    seen = SeenTokens(Clock(NOW))
    assert use(database, seen, tokens("a", "b", "a", "c", "c", "c")) == "nnunuu"
    assert use(database, seen, tokens("b", "d", "a")) == "unu"
    assert use(database, SeenTokens(Clock(NOW)), tokens("d", "e")) == "un"


def test_what_is_rolled_back_was_not_used(database: Database) -> None:
    seen = SeenTokens(Clock(NOW))
    with database.writer.connect() as connection:
        transaction = connection.begin()
        seen.use(connection, tokens("a"))
        transaction.rollback()
    assert use(database, seen, tokens("a")) == "n"


def test_kept_an_hour(database: Database) -> None:
    clock = Clock(NOW)
    seen = SeenTokens(clock)
    use(database, seen, [*tokens("a", at=NOW - 1), *tokens("b", at=NOW)])
    clock.now = NOW + 3600
    assert use(database, seen, tokens("c", at=NOW + 3600)) == "n"
    with database.reader.begin() as connection:
        left = connection.execute(select(seen_token.c.signature)).scalars().all()
    assert sorted(name[0] for name in left) == ["b", "c"]


@pytest.mark.parametrize("url", ["sqlite"], indirect=True)  # whose driver tells of each statement
def test_a_batch_is_one_statement(database: Database) -> None:
    seen = SeenTokens(Clock(NOW))
    use(database, seen, tokens("a"))  # prunes too, which happens once a minute
    statements: list[str] = []
    with database.writer.begin() as connection:
        driver = connection.connection.driver_connection
        assert driver is not None
        driver.set_trace_callback(statements.append)
        seen.use(connection, [Token(f"{number:0128x}", NOW) for number in range(256)])
        driver.set_trace_callback(None)
    assert len(statements) == 1
    with database.reader.begin() as connection:
        assert connection.execute(select(func.count()).select_from(seen_token)).scalar_one() == 257
