"""One attempt is signed once: in a batch, in two processes, after a restart, for a day."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import pytest

from app.store.api_keys import add_key, revoke_key
from app.store.journal import Signed
from app.store.ledger import NotImproved, Replayed
from app.store.names import ban_name
from app.store.refusals import KeyReused, KeyRevoked, NameTaken, TooFast
from app.store.store import Store
from tests.clock import Clock
from tests.store.players import admin, deletion, game_server, make_ledger, opened, player, request

if TYPE_CHECKING:
    from app.store.database import Database
    from app.store.ledger import Answer, Ledger, Request

DAY = 24 * 60 * 60


@pytest.fixture
def clock() -> Clock:
    return Clock(1_700_000_000.5)


@pytest.fixture
def ledger(database: Database, clock: Clock) -> Ledger:
    return make_ledger(database, clock)


def append(database: Database, ledger: Ledger, *requests: Request) -> list[Answer]:
    with database.writer.begin() as connection:
        return ledger.append(connection, requests)


def count(database: Database, table: str) -> int:
    with database.reader.begin() as connection:
        return int(connection.exec_driver_sql(f"SELECT count(*) FROM {table}").scalar_one())


def test_the_same_attempt_is_signed_once(database: Database, ledger: Ledger, clock: Clock) -> None:
    attempt = request(player(1), "alice", 72, "k", b"body")
    (first,) = append(database, ledger, attempt)
    assert isinstance(first, Signed)
    clock.now += 100
    assert append(database, ledger, attempt, attempt) == [Replayed(first.event.id)] * 2
    assert count(database, "event") == 1


def test_of_the_same_attempt_twice_in_one_batch_one_signs(database: Database, ledger: Ledger) -> None:
    attempt = request(player(1), "alice", 72, "k", b"body")
    first, second = append(database, ledger, attempt, attempt)
    assert isinstance(first, Signed)
    assert second == Replayed(first.event.id)
    assert count(database, "event") == 1


def test_another_body_under_the_same_key_is_refused(database: Database, ledger: Ledger) -> None:
    one = request(player(1), "alice", 72, "k", b"one")
    other = request(player(1), "alice", 73, "k", b"other")
    first, second = append(database, ledger, one, other)
    assert isinstance(first, Signed)
    assert isinstance(second, KeyReused)
    assert isinstance(append(database, ledger, other)[0], KeyReused)
    assert count(database, "event") == 1


def test_another_key_is_another_attempt(database: Database, ledger: Ledger) -> None:
    answers = append(database, ledger, *(request(player(1), "alice", 72, key, b"body") for key in "kK"))
    assert [type(answer) for answer in answers] == [Signed, Signed]


def test_two_principals_may_use_one_key(database: Database, ledger: Ledger) -> None:
    answers = append(
        database,
        ledger,
        request(player(1), "alice", 72, "k", b"one"),
        request(player(2), "bob", 72, "k", b"other"),
    )
    assert [type(answer) for answer in answers] == [Signed, Signed]


def test_it_is_kept_for_a_day_and_then_forgotten(database: Database, ledger: Ledger, clock: Clock) -> None:
    attempt = request(player(1), "alice", 72, "k", b"body")
    (first,) = append(database, ledger, attempt)
    clock.now += DAY - 1
    (again,) = append(database, ledger, attempt)
    assert isinstance(first, Signed)
    assert again == Replayed(first.event.id)
    clock.now += 1
    (later,) = append(database, ledger, request(player(1), "alice", 99, "k", b"another body"))
    assert isinstance(later, Signed)
    assert count(database, "event") == 2
    assert count(database, "idempotency") == 1


def test_what_has_expired_is_pruned(database: Database, ledger: Ledger, clock: Clock) -> None:
    append(database, ledger, *(request(player(1), "alice", 1, f"k{n}", b"") for n in range(40)))
    assert count(database, "idempotency") == 40
    clock.now += DAY
    append(database, ledger, request(player(1), "alice", 1, "fresh", b""))
    assert count(database, "idempotency") == 1


def test_what_was_refused_may_be_tried_again(database: Database, ledger: Ledger, clock: Clock) -> None:
    append(database, ledger, *(request(player(1), "alice") for _ in range(61)))
    attempt = request(player(1), "alice", 72, "k", b"body")
    assert isinstance(append(database, ledger, attempt)[0], TooFast)
    assert isinstance(append(database, ledger, request(player(2), "alice", 72, "k", b"body"))[0], NameTaken)
    assert count(database, "idempotency") == 0
    clock.now += 60
    assert isinstance(append(database, ledger, attempt)[0], Signed)


def test_a_replay_asks_for_nothing_but_a_good_key(database: Database, ledger: Ledger) -> None:
    """Neither a ban, nor a deletion, nor a used-up lead changes what was answered; a revocation does."""
    with database.writer.begin() as connection:
        server = game_server(add_key(connection, "server", now=0)[0].id)
        boss = admin(add_key(connection, "boss", now=0)[0].id)
    attempt = request(server, "alice", 72, "k", b"body")
    (first,) = append(database, ledger, attempt)
    assert isinstance(first, Signed)
    append(database, ledger, *(request(server, "alice") for _ in range(59)))
    with database.writer.begin() as connection:
        ledger.delete(connection, [deletion(boss, "alice")])
        ban_name(connection, "alice")
    assert append(database, ledger, attempt) == [Replayed(first.event.id)]
    with database.writer.begin() as connection:
        revoke_key(connection, str(server.key_id), now=0)
    assert isinstance(append(database, ledger, attempt)[0], KeyRevoked)


def test_no_improvement_stays_the_answer(database: Database, clock: Clock) -> None:
    ledger = make_ledger(database, clock, best=True)
    with database.writer.begin() as connection:
        boss = admin(add_key(connection, "boss", now=0)[0].id)
    (standing,) = append(database, ledger, request(player(1), "alice", 72))
    assert isinstance(standing, Signed)
    worse = request(player(1), "alice", 71, "k", b"body")
    assert append(database, ledger, worse) == [NotImproved(standing.event.id)]
    with database.writer.begin() as connection:
        ledger.delete(connection, [deletion(boss, "alice")])
    assert append(database, ledger, worse) == [NotImproved(standing.event.id, replayed=True)]
    assert isinstance(append(database, ledger, request(player(1), "alice", 71, "k2", b"body"))[0], Signed)


def test_no_improvement_over_a_score_of_the_same_batch(database: Database, clock: Clock) -> None:
    ledger = make_ledger(database, clock, best=True)
    worse = request(player(1), "alice", 71, "k", b"body")
    first, second, third = append(database, ledger, request(player(1), "alice", 72), worse, worse)
    assert isinstance(first, Signed)
    assert second == NotImproved(first.event.id)
    assert third == NotImproved(first.event.id, replayed=True)


async def test_twenty_at_once_in_two_processes_sign_once(url: str) -> None:
    path = url
    attempt = request(player(1), "alice", 72, "k", b"body")
    with opened(path) as one, opened(path) as other:
        ledgers = [make_ledger(one, time.time), make_ledger(other, time.time)]
        stores = [Store(one), Store(other)]
        answers = await asyncio.gather(
            *(stores[n % 2].write(ledgers[n % 2].append, attempt) for n in range(20))
        )
        (signed,) = [answer for answer in answers if isinstance(answer, Signed)]
        assert answers.count(Replayed(signed.event.id)) == 19
        for store in stores:
            await store.close()


def test_it_is_known_after_a_restart(url: str, clock: Clock) -> None:
    attempt = request(player(1), "alice", 72, "k", b"body")
    seen = []
    for _ in range(3):
        with opened(url) as database:
            seen += append(database, make_ledger(database, clock), attempt)
    assert isinstance(seen[0], Signed)
    assert seen[1:] == [Replayed(seen[0].event.id)] * 2
