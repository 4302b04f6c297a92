"""The store as the service holds it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text

from app.store.database import Database
from app.store.errors import StoreUnavailable
from app.store.store import Store

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

ABSENT = r'no such table: absent|relation "absent" does not exist'


def add_relay(connection: Connection, urls: Sequence[str]) -> list[None]:
    for url in urls:
        connection.execute(text("INSERT INTO relay (url) VALUES (:url)"), {"url": url})
    return [None] * len(urls)


def count(connection: Connection) -> int:
    return int(connection.execute(text("SELECT count(*) FROM relay")).scalar_one())


async def test_what_was_written_is_read(url: str) -> None:
    store = Store(Database(url))
    await store.write(add_relay, "wss://one")
    assert await store.read(count) == 1
    await store.close()


async def test_faults_of_the_database_are_the_stores_whoever_raises_them(url: str) -> None:
    store = Store(Database(url))
    with pytest.raises(StoreUnavailable, match=ABSENT):
        await store.read(lambda connection: connection.execute(text("SELECT * FROM absent")))
    with pytest.raises(StoreUnavailable, match=ABSENT):
        await store.read(lambda connection: connection.connection.cursor().execute("SELECT * FROM absent"))
    with pytest.raises(ZeroDivisionError):
        await store.read(lambda _: 1 // 0)
    assert await store.read(count) == 0
    await store.close()


async def test_closing_writes_what_is_queued_first(url: str) -> None:
    store = Store(Database(url))
    writes = [store._writer.submit(add_relay, f"wss://{number}") for number in range(20)]
    await store.close()
    assert all(write.done() for write in writes)
    again = Database(url)
    with again.reader.connect() as connection:
        assert count(connection) == 20
    again.close()
    with pytest.raises(StoreUnavailable, match="closed"):
        await store.write(add_relay, "wss://late")
