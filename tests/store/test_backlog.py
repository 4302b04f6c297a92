"""What an operator sees of the outbox, what is given up, and what is tried again."""

from __future__ import annotations

import asyncio
from contextlib import contextmanager
from typing import TYPE_CHECKING

import psycopg
import pytest

from app.delivery.model import DeliveryState, Outcome
from app.store import backlog
from app.store.backlog import NoSuchEvent, list_deliveries, retry_event, retry_failed
from app.store.outbox import retire_relays
from app.store.scores import find_score
from tests.store.bench import RELAYS, Bench
from tests.store.players import opened
from tests.store.test_outbox import names, process, row, sign

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import Connection

    from app.store.backlog import Waiting
    from tests.postgres import PostgresServer

ONE, TWO = RELAYS
DAY = 86_400
PENDING, FAILED = DeliveryState.PENDING, DeliveryState.FAILED
REJECTED, CONFLICT, ACCEPTED = DeliveryState.REJECTED, DeliveryState.CONFLICT, DeliveryState.ACCEPTED


@contextmanager
def elsewhere(bench: Bench) -> Iterator[Connection]:
    """A transaction of another process."""
    with opened(bench.path) as database, database.writer.begin() as connection:
        yield connection


def listed(
    bench: Bench, states: Sequence[DeliveryState] = tuple(DeliveryState), *relays: str
) -> list[Waiting]:
    with bench.database.reader.begin() as connection:
        return list(list_deliveries(connection, states, relays))


async def test_deliveries_are_listed_by_state_and_relay(url: str) -> None:
    async with process(url) as (bench, outbox):
        alice, bob = await sign(bench, ("alice", 1), ("Bob", 2), hold=(TWO,))
        await outbox.record([Outcome(alice.event.id, ONE, REJECTED, "blocked: no", 1, None)])
        assert [(one.username, one.relay, one.state) for one in listed(bench)] == [
            *(("alice", ONE, REJECTED), ("alice", TWO, PENDING)),
            *(("Bob", ONE, PENDING), ("Bob", TWO, PENDING)),
        ]
        [one] = listed(bench, [REJECTED])
        assert (one.event_id, one.created_at, one.attempts, one.due, one.message) == (
            *(alice.event.id, 1000, 1, None, "blocked: no"),
        )
        [one, held] = [one for one in listed(bench, [PENDING]) if one.event_id == bob.event.id]
        assert (one.due, held.due) == (1000, None), "what a process has in memory is on its way already"
        assert [one.username for one in listed(bench, [PENDING, REJECTED], ONE)] == ["alice", "Bob"]


async def test_what_waits_for_a_relay_that_is_no_longer_configured_says_so(url: str) -> None:
    async with process(url) as (bench, outbox):
        (signed,) = await sign(bench, ("alice", 1))
        await outbox.record([Outcome(signed.event.id, TWO, ACCEPTED, "", 1, None)])
        with elsewhere(bench) as connection:
            retire_relays(connection, [TWO], 1000)
        [one] = listed(bench, [PENDING])
        assert (one.relay, one.due) == (ONE, None)
        assert one.message == "nothing is sent to it: the relay is not in the settings"
        score = await bench.store.read(lambda connection: find_score(connection, signed.event.id))
        assert score is not None
        assert [(relay.state, relay.message) for relay in score.relays] == [
            *((PENDING, one.message), (ACCEPTED, "")),
        ]
        with elsewhere(bench) as connection:
            retire_relays(connection, RELAYS, 1000)
        assert [one.message for one in listed(bench, [PENDING])] == [""]


async def test_what_waits_for_an_unreachable_relay_rests_after_seven_days(url: str) -> None:
    async with process(url) as (bench, outbox):
        (old,) = await sign(bench, ("alice", 1))
        await outbox.reached(ONE, connected=False)
        bench.now += 7 * DAY - 1
        await outbox.reached(ONE, connected=False)
        (young,) = await sign(bench, ("bob", 2))
        assert not await outbox.give_up()
        bench.now += 1
        assert await outbox.give_up() == {ONE: 1}
        assert row(bench, old.event.id)[:2] == ("failed", "given up after 7 days: no connection")
        assert row(bench, old.event.id, TWO)[0] == row(bench, young.event.id)[0] == "pending"
        assert names(await outbox.claim(ONE, now=bench.now, limit=10)) == ["bob"]


async def test_a_connection_begins_the_count_anew(url: str) -> None:
    async with process(url) as (bench, outbox):
        await sign(bench, ("alice", 1))
        await outbox.reached(ONE, connected=False)
        bench.now += 6 * DAY
        await outbox.reached(ONE, connected=True)
        bench.now += 2 * DAY
        assert not await outbox.give_up()
        await outbox.reached(ONE, connected=False)
        bench.now += 6 * DAY
        assert not await outbox.give_up(), "a service that was off for long gives its relays time, too"


async def test_a_relay_that_is_no_longer_configured_is_given_up_in_its_time(url: str) -> None:
    async with process(url) as (bench, outbox):
        (signed,) = await sign(bench, ("alice", 1))
        with elsewhere(bench) as connection:
            retire_relays(connection, [TWO], bench.now)
        bench.now += 7 * DAY
        with elsewhere(bench) as connection:
            retire_relays(connection, [TWO], bench.now)
        assert await outbox.give_up() == {ONE: 1}
        words = "given up after 7 days: the relay is not in the settings"
        assert row(bench, signed.event.id)[:2] == ("failed", words)


async def test_more_than_one_transaction_takes_is_given_up(url: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(backlog, "_CHUNK", 4)
    async with process(url) as (bench, outbox):
        await sign(bench, *((f"p{number}", 1) for number in range(10)))
        await outbox.reached(ONE, connected=False)
        bench.now += 7 * DAY
        assert await outbox.give_up() == {ONE: 10}
        assert len(listed(bench, [FAILED])) == 10


async def test_what_failed_is_tried_again_for_another_seven_days(url: str) -> None:
    async with process(url) as (bench, outbox):
        await sign(bench, ("alice", 1))
        for relay in RELAYS:
            await outbox.reached(relay, connected=False)
        bench.now += 7 * DAY
        assert await outbox.give_up() == {ONE: 1, TWO: 1}
        with elsewhere(bench) as connection:
            assert retry_failed(connection, [ONE], bench.now) == 1
            assert retry_failed(connection, [ONE], bench.now) == 0
            assert retry_failed(connection, [], bench.now) == 1
        assert not await outbox.give_up()
        (again,) = await outbox.claim(ONE, now=bench.now, limit=10)
        assert again.failing_since == bench.now
        bench.now += 7 * DAY
        assert await outbox.give_up() == {TWO: 1}, "the other one is held by a process"


@pytest.mark.parametrize("state", [FAILED, REJECTED, CONFLICT])
async def test_one_event_is_tried_again_whatever_it_rests_for(url: str, state: DeliveryState) -> None:
    async with process(url) as (bench, outbox):
        alice, bob = await sign(bench, ("alice", 1), ("bob", 2))
        for signed in (alice, bob):
            await outbox.record([Outcome(signed.event.id, ONE, state, "", 1, None)])
            await outbox.record([Outcome(signed.event.id, TWO, ACCEPTED, "", 1, None)])
        with elsewhere(bench) as connection:
            assert retry_event(connection, alice.event.id, 1000) == 1
        assert names(await outbox.claim(ONE, now=1000, limit=10)) == ["alice"]
        assert row(bench, alice.event.id, TWO)[0] == "accepted"


async def test_what_a_newer_score_took_the_place_of_is_not_sent_any_more(url: str) -> None:
    async with process(url) as (bench, outbox):
        (older,) = await sign(bench, ("alice", 1))
        await outbox.record([Outcome(older.event.id, ONE, FAILED, "", 1, None)])
        await sign(bench, ("alice", 2))
        with elsewhere(bench) as connection:
            assert retry_failed(connection, [], 1000) == 0
        assert row(bench, older.event.id)[0] == "superseded"


def test_an_unknown_event_is_not_tried_again(url: str) -> None:
    bench = Bench(url)
    with pytest.raises(NoSuchEvent, match="0" * 64), bench.database.writer.begin() as connection:
        retry_event(connection, "0" * 64, 1000)
    bench.database.close()


async def test_what_a_process_sends_just_now_is_not_given_up(postgres: PostgresServer) -> None:
    """The relay is back: another process has begun to take what the sweep finds, and has not committed."""
    with postgres.database("TEMPLATE scores") as url:
        async with process(url) as (bench, outbox):
            (first, second) = await sign(bench, ("alice", 1), ("bob", 2))
            await outbox.reached(ONE, connected=False)
            bench.now += 7 * DAY
            with psycopg.connect(url) as other:
                other.execute(
                    "UPDATE delivery SET state = 'accepted', due = NULL WHERE relay_id = 1 AND event_seq = "
                    "(SELECT seq FROM event WHERE id = %s)",
                    [first.event.id],
                )
                given_up = asyncio.create_task(outbox.give_up())
                async with asyncio.timeout(10):
                    await given_up
            assert given_up.result() == {ONE: 1}
            assert [row(bench, one.event.id)[0] for one in (first, second)] == ["accepted", "failed"]


async def test_what_a_clock_that_was_ahead_put_off_is_tried_again(url: str) -> None:
    async with process(url) as (bench, outbox):
        (retried, waiting) = await sign(bench, ("alice", 1), ("bob", 2))
        failing = Outcome(retried.event.id, ONE, PENDING, "error: busy", 1, bench.now + 365 * DAY + 5)
        ordinary = Outcome(waiting.event.id, ONE, PENDING, "error: busy", 9, bench.now + 299)
        await outbox.record([failing, ordinary])
        assert names(await outbox.claim(ONE, now=bench.now + 1, limit=10)) == []
        assert await outbox.call_back() == 1
        assert names(await outbox.claim(ONE, now=bench.now + 1, limit=10)) == ["alice"]
        assert await outbox.call_back() == 0


async def test_an_event_ahead_of_the_clock_is_not_called_back(url: str) -> None:
    async with process(url) as (bench, outbox):
        bench.now += 365 * DAY
        (signed,) = await sign(bench, ("alice", 1))
        bench.now -= 365 * DAY
        assert await outbox.call_back() == 0
        assert row(bench, signed.event.id)[3] == bench.now + 365 * DAY
