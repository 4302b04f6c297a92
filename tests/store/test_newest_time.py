"""The clock by which scores were signed, set back after it was ahead."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.delivery.model import DeliveryState
from app.store.journal import Signed
from app.store.newest_time import names_ahead, newest_time, set_back
from app.store.refusals import ClockBehind, TooFast
from tests.store.bench import Bench
from tests.store.test_backlog import elsewhere

if TYPE_CHECKING:
    from collections.abc import Callable

    from sqlalchemy import Connection

YEAR = 365 * 86_400


def read(bench: Bench, query: Callable[[Connection], object]) -> object:
    with bench.database.reader.begin() as connection:
        return query(connection)


def test_an_empty_store_knows_no_time(url: str) -> None:
    bench = Bench(url)
    assert read(bench, newest_time) is None
    assert read(bench, lambda connection: names_ahead(connection, 0)) == []
    with elsewhere(bench) as connection:
        assert set_back(connection, 1000.0) == 0
    bench.database.close()


def test_signing_goes_on_and_every_name_still_rises(url: str) -> None:
    bench = Bench(url)
    bench.append(("alice", 1), ("bob", 1))
    bench.now += YEAR
    bench.append(("bob", 2))
    bench.now -= YEAR
    assert isinstance(bench.append(("alice", 3))[0], ClockBehind)
    assert read(bench, newest_time) == 1000 + YEAR
    with elsewhere(bench) as connection:
        set_back(connection, bench.now)
    assert read(bench, newest_time) == 1000
    # Bob's last event is of 1000 + a year; 60 s before its next second comes, another may be signed.
    until = 1000 + YEAR + 1 - 60
    assert read(bench, lambda connection: names_ahead(connection, bench.now)) == [("bob", until)]
    alice, bob = bench.append(("alice", 3), ("bob", 3))
    assert isinstance(alice, Signed)
    assert alice.event.created_at == 1001
    assert isinstance(bob, TooFast)
    assert bob.retry_after == until - 1000
    bench.now = until
    assert read(bench, lambda connection: names_ahead(connection, bench.now)) == []
    (bob,) = bench.append(("bob", 3))
    assert isinstance(bob, Signed)
    assert bob.event.created_at == 1000 + YEAR + 1
    bench.database.close()


def test_what_the_clock_had_put_off_is_due(url: str) -> None:
    bench = Bench(url)
    bench.append(("alice", 1))
    bench.now += YEAR
    with elsewhere(bench) as connection:
        connection.exec_driver_sql(f"UPDATE delivery SET due = {bench.now + 9}")
        assert set_back(connection, 1000.0) == 2
    assert {state for *_, state in bench.states()} == {DeliveryState.PENDING}
    bench.database.close()
