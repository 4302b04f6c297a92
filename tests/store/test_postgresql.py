"""What PostgreSQL alone can do to a store: lost connections, deadlocks, other replicas, rights, versions."""

from __future__ import annotations

import asyncio
import threading
import time
from contextlib import ExitStack, closing
from typing import TYPE_CHECKING, Any

import psycopg
import pytest
from sqlalchemy import text

from app.store import postgresql
from app.store.database import Database
from app.store.errors import OutcomeUnknown, StoreUnavailable, StoreUnusable
from app.store.journal import Signed
from app.store.ledger import Replayed
from app.store.outbox import register_relays
from app.store.store import Store
from tests.postgres import LOCKED, PASSWORD
from tests.service import rows
from tests.store.bench import RELAYS, Bench
from tests.store.lossy import lossy
from tests.store.players import at_once, make_ledger, player, request

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import Connection

    from tests.postgres import PostgresServer


@pytest.fixture
def url(postgres: PostgresServer) -> Iterator[str]:
    with postgres.database("TEMPLATE scores") as address:
        yield address


def add(connection: Connection, urls: Sequence[str]) -> list[None]:
    register_relays(connection, urls)
    return [None] * len(urls)


def relays(url: str) -> list[str]:
    return [relay for (relay,) in rows(url, "SELECT url FROM relay ORDER BY id")]


def end_connections(url: str) -> None:
    """Have the server end every other connection to the database."""
    query = (
        "SELECT count(pg_terminate_backend(pid)) FROM pg_stat_activity "
        "WHERE datname = current_database() AND pid != pg_backend_pid()"
    )
    assert rows(url, query)[0][0] > 0


def alter(postgres: PostgresServer, url: str, setting: str) -> None:
    """Change a setting for all who connect to the database from now on."""
    postgres.run(f"ALTER DATABASE {url.rpartition('/')[2]} SET {setting}")


# lost connections


async def test_connections_that_were_lost_while_idle_are_replaced(url: str) -> None:
    store = Store(Database(url))
    await store.write(add, "wss://one")
    await store.read(lambda connection: connection.exec_driver_sql("SELECT 1").all())
    end_connections(url)
    await store.write(add, "wss://two")
    assert await store.read(lambda c: c.exec_driver_sql("SELECT count(*) FROM relay").scalar_one()) == 2
    await store.close()


async def test_a_connection_that_is_lost_in_mid_transaction_is_replaced_and_its_work_done_once(
    url: str,
) -> None:
    store = Store(Database(url))
    runs: list[int] = []

    def lose(connection: Connection, urls: Sequence[str]) -> list[None]:
        add(connection, urls)
        runs.append(1)
        if len(runs) == 1:
            end_connections(url)
        add(connection, ["wss://after"])
        return [None] * len(urls)

    await store.write(lose, "wss://before")
    assert len(runs) == 2
    assert relays(url) == ["wss://before", "wss://after"]
    await store.close()


@pytest.mark.parametrize("lose", ["question", "answer"])
async def test_a_commit_that_is_lost_from_sight_is_looked_for_and_signs_once(url: str, lose: Any) -> None:
    async with lossy(url) as (proxy, through):
        database = await asyncio.to_thread(Database, through)
        ledger = await asyncio.to_thread(make_ledger, database, time.time)
        store = Store(database)
        attempt = request(player(1), "alice", 72, "key", b"body")
        proxy.lose = lose
        answer = await store.write(ledger.append, attempt)
        assert proxy.lose == "nothing"
        assert isinstance(answer, Signed)
        assert rows(url, "SELECT id FROM event") == [(answer.event.id,)]
        assert await store.write(ledger.append, attempt) == Replayed(answer.event.id)
        await store.close()


async def test_what_cannot_be_known_is_not_called_refused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgresql, "_UNKNOWN_SECONDS", 0)
    async with lossy(url) as (proxy, through):
        database = await asyncio.to_thread(Database, through)
        ledger = await asyncio.to_thread(make_ledger, database, time.time)
        store = Store(database)
        attempt = request(player(1), "alice", 72, "key", b"body")
        proxy.lose = "answer"
        connect = postgresql.PostgresqlTransactions._connect

        def fail_once(transactions: postgresql.PostgresqlTransactions) -> Connection:
            if proxy.lose == "nothing":  # the commit was lost
                raise StoreUnavailable("away")
            return connect(transactions)

        with monkeypatch.context() as patch:
            patch.setattr(postgresql.PostgresqlTransactions, "_connect", fail_once)
            with pytest.raises(OutcomeUnknown, match="as it was told to commit"):
                await store.write(ledger.append, attempt)
        again = await store.write(ledger.append, attempt)
        assert rows(url, "SELECT id FROM event") == [(again.event_id,)]  # type: ignore[union-attr]
        await store.close()


async def test_a_server_that_is_away_takes_nothing_and_is_taken_again_when_it_is_back(url: str) -> None:
    async with lossy(url) as (proxy, through):
        store = Store(await asyncio.to_thread(Database, through))
        await store.write(add, "wss://one")
        proxy.lose = "everything"
        end_connections(url)
        with pytest.raises(StoreUnavailable, match="does not answer"):
            await store.write(add, "wss://two")
        with pytest.raises(StoreUnavailable, match="does not answer"):
            await store.read(lambda connection: connection.exec_driver_sql("SELECT 1"))
        with pytest.raises(StoreUnavailable, match="does not answer"):
            await store.check_writable()
        proxy.lose = "nothing"
        await store.write(add, "wss://three")
        assert relays(url) == ["wss://one", "wss://three"]
        await store.close()


async def test_connections_that_the_server_ends_because_they_idle_are_replaced(
    postgres: PostgresServer, url: str
) -> None:
    alter(postgres, url, "idle_session_timeout = '10ms'")
    store = Store(Database(url))
    for number in range(3):
        await store.write(add, f"wss://{number}")
        count = await store.read(lambda c: c.exec_driver_sql("SELECT count(*) FROM relay").scalar_one())
        assert count == number + 1
        query = "SELECT count(*) FROM pg_stat_activity WHERE application_name = 'briscola-scores'"
        while rows(url, f"{query} AND datname = current_database()") != [(0,)]:
            pass
    await store.close()


async def test_a_session_that_may_only_read_is_left_for_one_that_may_write(
    postgres: PostgresServer, url: str
) -> None:
    alter(postgres, url, "default_transaction_read_only = on")
    store = Store(Database(url))
    with pytest.raises(StoreUnavailable, match="read-only transaction"):
        await store.write(add, "wss://one")
    alter(postgres, url, "default_transaction_read_only = off")
    await store.write(add, "wss://two")
    assert relays(url) == ["wss://two"]
    await store.close()


# other replicas


async def test_a_deadlock_is_run_again(url: str) -> None:
    """Two replicas write the same two rows in opposite order."""
    one, other = Store(Database(url)), Store(Database(url))
    await one.write(add, "a")
    await one.write(add, "b")
    met = threading.Barrier(2, timeout=60)
    runs: list[str] = []

    def touch(connection: Connection, orders: Sequence[str]) -> list[str]:
        for order in orders:
            first = order not in runs
            runs.append(order)
            for number, name in enumerate(order):
                connection.execute(text("UPDATE relay SET url = url WHERE url = :url"), {"url": name})
                if number == 0 and first:
                    met.wait()
        return [*orders]

    assert await asyncio.gather(one.write(touch, "ab"), other.write(touch, "ba")) == ["ab", "ba"]
    assert len(runs) == 3, "one of the two ran twice"
    await one.close()
    await other.close()


async def test_what_another_transaction_holds_for_long_is_not_waited_for(url: str) -> None:
    store = Store(Database(url))
    await store.write(add, "a")

    def touch(connection: Connection, arguments: Sequence[None]) -> list[None]:
        connection.exec_driver_sql("SET LOCAL lock_timeout = '1ms'")
        connection.exec_driver_sql("UPDATE relay SET url = url")
        return [*arguments]

    with psycopg.connect(url) as holder:
        holder.execute("UPDATE relay SET url = url")
        with pytest.raises(StoreUnavailable, match="lock timeout"):
            await store.write(touch, None)
    assert await store.write(touch, None) is None
    await store.close()


async def test_created_at_rises_strictly_over_two_replicas(url: str) -> None:
    ledgers, stores = [], []
    for _ in range(2):
        database = Database(url)
        ledgers.append(make_ledger(database, lambda: 1_700_000_000.0))
        stores.append(Store(database))
    names = ("alice", "Alice", "bob", "BOB")
    asked = [(number % 2, request(player(1), names[number % 4], 1)) for number in range(80)]
    answers = await asyncio.gather(*(stores[n].write(ledgers[n].append, one) for n, one in asked))
    assert all(isinstance(answer, Signed) for answer in answers)
    for d in ("alice", "bob"):
        times = [at for (at,) in rows(url, "SELECT created_at FROM event WHERE d = ? ORDER BY seq", d)]
        assert times == list(range(1_700_000_000, 1_700_000_040))
    pending = "SELECT count(*) FROM delivery WHERE state = 'pending'"
    assert rows(url, pending) == [(4,)], "the newest of either name, for two relays"
    for store in stores:
        await store.close()


async def test_two_replicas_claim_at_once_and_share(url: str) -> None:
    one, other = Bench(url), Bench(url)
    one.append(*((f"player{number}", 1) for number in range(100)))
    outboxes = [one.outbox(), other.outbox()]
    with psycopg.connect(url) as slow:
        slow.execute("SELECT 1 FROM delivery WHERE event_seq <= 10 FOR UPDATE")
        claimed = await asyncio.gather(*(outbox.claim(RELAYS[0], now=1000, limit=60) for outbox in outboxes))
    ids = [delivery.event_id for part in claimed for delivery in part]
    assert len(ids) == len(set(ids)) == 90, "nobody waits for what somebody else holds"
    await one.store.close()
    await other.store.close()


async def told(url: str) -> tuple[Database, asyncio.Task[None], asyncio.Queue[None]]:
    """A database that listens, once it does."""
    database = Database(url)
    woken: asyncio.Queue[None] = asyncio.Queue()
    listening = asyncio.create_task(database.backend.listen(lambda: woken.put_nowait(None)))
    async with asyncio.timeout(30):
        await woken.get()
    return database, listening, woken


async def test_what_nobody_holds_wakes_the_others_and_what_is_held_does_not(url: str) -> None:
    database, listening, woken = await told(url)
    bench = Bench(url)
    bench.append(("held", 1), hold=RELAYS)
    bench.append(("alice", 1), hold=RELAYS[:1])
    async with asyncio.timeout(30):
        await woken.get()
    bench.append(("fence", 1))
    async with asyncio.timeout(30):
        await woken.get()
    assert woken.empty()
    await bench.outbox().leave()  # what it held is free
    async with asyncio.timeout(30):
        await woken.get()
    listening.cancel()
    await asyncio.wait([listening])
    database.close()
    await bench.store.close()


async def test_an_address_may_have_options_of_its_own(url: str) -> None:
    database, listening, _ = await told(f"{url}?connect_timeout=7&application_name=mine&sslmode=disable")
    assert not listening.done()
    listening.cancel()
    await asyncio.wait([listening])
    database.close()


async def test_a_listener_whose_connection_is_lost_listens_again_and_looks_at_once(
    url: str, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr(postgresql, "_LISTEN_AGAIN", 0.01)
    database, listening, woken = await told(url)
    end_connections(url)
    async with asyncio.timeout(30):
        await woken.get()
    assert "not told by the database" in caplog.text
    listening.cancel()
    await asyncio.wait([listening])
    database.close()


# opening


def test_several_replicas_may_start_at_once(postgres: PostgresServer) -> None:
    with postgres.database() as url:
        assert at_once(4, lambda: Database(url).close()) == []
        assert rows(url, "SELECT count(*) FROM alembic_version") == [(1,)]


def test_a_database_of_a_newer_release_is_refused(postgres: PostgresServer, url: str) -> None:
    with psycopg.connect(url) as connection:
        connection.execute("UPDATE alembic_version SET version_num = '9999'")
    with pytest.raises(StoreUnusable, match=r"newer release.*upgrade briscola-scores"):
        Database(url)


def test_another_encoding_is_refused(postgres: PostgresServer) -> None:
    with (
        postgres.database("ENCODING 'LATIN1' LOCALE 'C' TEMPLATE template0") as url,
        pytest.raises(StoreUnusable, match="encoded in LATIN1: make one with CREATE DATABASE"),
    ):
        Database(url)


def test_an_old_server_is_refused(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(postgresql, "OLDEST", 1000)
    with pytest.raises(StoreUnusable, match="1000 or newer is needed"):
        Database(url)


def test_a_role_that_may_not_make_tables_is_told_so(postgres: PostgresServer) -> None:
    with postgres.database() as url:
        locked = url.replace("briscola@", f"{LOCKED}:{PASSWORD}@")
        with pytest.raises(
            StoreUnusable, match=r"permission denied.*`briscola-scores migrate` once"
        ) as caught:
            Database(locked)
        assert PASSWORD not in str(caught.value)


def test_a_role_that_may_not_make_tables_may_use_them(postgres: PostgresServer, url: str) -> None:
    grants = (
        f"GRANT SELECT, INSERT, UPDATE, DELETE ON ALL TABLES IN SCHEMA public TO {LOCKED}",
        f"GRANT USAGE ON ALL SEQUENCES IN SCHEMA public TO {LOCKED}",
    )
    with psycopg.connect(url) as connection:
        for grant in grants:
            connection.execute(grant)
    bench = Bench(url.replace("briscola@", f"{LOCKED}:{PASSWORD}@"))
    assert isinstance(bench.append(("alice", 1))[0], Signed)
    bench.database.close()


@pytest.mark.parametrize(
    ("change", "reason"),
    [
        ((f"{LOCKED}:{PASSWORD}", f"{LOCKED}:{PASSWORD}!"), "password authentication failed"),
        (("/test", "/none"), "does not exist"),
        (("127.0.0.1", "nowhere.invalid"), "resolve"),
        ((":{port}/", ":1/"), "refused"),
    ],
)
def test_a_server_that_cannot_be_had_is_named_without_the_password(
    postgres: PostgresServer, url: str, change: tuple[str, str], reason: str
) -> None:
    locked = url.replace("briscola@", f"{LOCKED}:{PASSWORD}@")
    before, after = (part.replace("{port}", str(postgres.port)) for part in change)
    assert before in locked
    with pytest.raises(StoreUnusable, match=reason) as caught:
        Database(locked.replace(before, after))
    assert "check that the server runs, and BRISCOLA_DATABASE_URL" in str(caught.value)
    assert PASSWORD not in str(caught.value)
    assert "\n" not in str(caught.value)


def test_a_server_that_would_not_wait_for_the_disk_is_told_to(url: str) -> None:
    with psycopg.connect(url, autocommit=True) as connection:
        connection.execute("ALTER ROLE briscola SET synchronous_commit = off")
    try:
        with closing(Database(url)) as database, ExitStack() as stack:
            for engine in (database.writer, database.reader):
                opened = stack.enter_context(engine.connect())
                assert opened.exec_driver_sql("SHOW synchronous_commit").scalar_one() == "on"
    finally:
        with psycopg.connect(url, autocommit=True) as connection:
            connection.execute("ALTER ROLE briscola RESET synchronous_commit")


@pytest.mark.parametrize("encoding", ["LATIN1", "SQL_ASCII"])
def test_names_are_kept_whatever_encoding_the_server_takes_its_clients_for(
    postgres: PostgresServer, url: str, encoding: str
) -> None:
    alter(postgres, url, f"client_encoding = '{encoding}'")
    bench = Bench(url)
    assert isinstance(bench.append(("\u017c\u00f3\u0142w", 1))[0], Signed)
    with closing(bench.database), bench.database.reader.connect() as connection:
        assert connection.exec_driver_sql("SELECT username FROM event").all() == [("\u017c\u00f3\u0142w",)]
