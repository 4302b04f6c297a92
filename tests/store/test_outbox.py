"""The outbox on the store: what is claimed, who holds it, and which outcome wins."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

from app.delivery.model import Delivery, DeliveryState, Outcome
from app.scores.score import Claim
from app.store.ledger import Request, Signed
from tests.service import rows
from tests.store.bench import PUBKEY, RELAYS, Bench

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from app.store.outbox import StoreOutbox

ONE, TWO = RELAYS
PENDING, ACCEPTED = DeliveryState.PENDING, DeliveryState.ACCEPTED
SETTLED = [state for state in DeliveryState if state is not PENDING]


@asynccontextmanager
async def process(place: Path | str, now: float = 1000.0) -> AsyncIterator[tuple[Bench, StoreOutbox]]:
    """One process on the database file."""
    bench = Bench(place, now=now)
    outbox = bench.outbox()
    try:
        yield bench, outbox
    finally:
        await bench.store.close()


async def sign(bench: Bench, *claims: tuple[str, int], hold: tuple[str, ...] = ()) -> list[Signed]:
    """Sign claims through the store, each in its own second."""
    signed = []
    for name, score in claims:
        answer = await bench.store.write(
            bench.ledger.append, Request(Claim(name, score), None, frozenset(hold))
        )
        assert isinstance(answer, Signed)
        signed.append(answer)
    return signed


def outcome(
    event_id: str, state: DeliveryState, *, relay: str = ONE, due: float | None = None, attempts: int = 1
) -> Outcome:
    return Outcome(event_id, relay, state, "said so", attempts, due)


def row(bench: Bench, event_id: str, relay: str = ONE) -> tuple[str, str, int, float | None, int | None]:
    (found,) = rows(
        bench.path,
        """SELECT delivery.state, message, attempts, due, holder FROM delivery
           JOIN event ON seq = event_seq JOIN relay ON relay.id = relay_id WHERE event.id = ? AND url = ?""",
        event_id,
        relay,
    )
    return found  # type: ignore[return-value]


def names(claimed: list[Delivery]) -> list[str]:
    return [delivery.address.rpartition(":")[2] for delivery in claimed]


async def test_what_waits_is_claimed_once_oldest_first(url: str) -> None:
    async with process(url) as (bench, outbox):
        signed = await sign(bench, ("alice", 1), ("Bob", 2), ("carol", 3))
        first = await outbox.claim(ONE, now=1000, limit=2)
        assert first[1] == Delivery(
            signed[1].event.id, ONE, f"31250:{PUBKEY}:bob", 1000, signed[1].payload, attempts=0
        )
        assert names(first) == ["alice", "bob"]
        assert names(await outbox.claim(ONE, now=1000, limit=10)) == ["carol"]
        assert await outbox.claim(ONE, now=1000, limit=10) == []
        assert names(await outbox.claim(TWO, now=1000, limit=10)) == ["alice", "bob", "carol"]


async def test_what_was_due_first_is_claimed_first(url: str) -> None:
    async with process(url) as (bench, outbox):
        a, b, c = await sign(bench, ("a", 1), ("b", 2), ("c", 3))
        await outbox.claim(ONE, now=1000, limit=10)
        dues = ((a, 1030.0), (b, 1020.0), (c, 1010.0))
        await outbox.record([outcome(s.event.id, PENDING, due=due, attempts=4) for s, due in dues])
        assert await outbox.claim(ONE, now=1009.9, limit=10) == []
        claimed = await outbox.claim(ONE, now=1020, limit=10)
        assert names(claimed) == ["c", "b"]
        assert [delivery.attempts for delivery in claimed] == [4, 4]
        assert names(await outbox.claim(ONE, now=1030, limit=10)) == ["a"]


async def test_what_is_held_from_its_making_is_not_claimed(url: str) -> None:
    async with process(url) as (bench, outbox):
        (signed,) = await sign(bench, ("alice", 1), hold=(ONE,))
        assert [delivery.relay for delivery in signed.held] == [ONE]
        assert await outbox.claim(ONE, now=1000, limit=10) == []
        assert names(await outbox.claim(TWO, now=1000, limit=10)) == ["alice"]


async def test_an_idle_claim_writes_nothing(tmp_path: Path) -> None:
    async with process(tmp_path / "s.db") as (bench, outbox):
        await bench.store.read(lambda _: None)
        before = (tmp_path / "s.db-wal").stat()
        for _ in range(3):
            assert await outbox.claim(ONE, now=1000, limit=10) == []
        after = (tmp_path / "s.db-wal").stat()
        assert (before.st_size, before.st_mtime_ns) == (after.st_size, after.st_mtime_ns)


async def test_what_is_settled_is_never_claimed_again(url: str) -> None:
    async with process(url) as (bench, outbox):
        signed = await sign(bench, *((f"player{number}", 1) for number in range(len(SETTLED))))
        assert len(await outbox.claim(ONE, now=1000, limit=10)) == len(SETTLED)
        for state, one in zip(SETTLED, signed, strict=True):
            await outbox.record([outcome(one.event.id, state)])
            assert row(bench, one.event.id) == (state.value, "said so", 1, None, None)
            assert row(bench, one.event.id, TWO)[0] == "pending", "another relay's delivery is another"
        assert await outbox.claim(ONE, now=9e9, limit=10) == []


async def test_what_is_settled_stays_so_unless_accepted(url: str) -> None:
    async with process(url) as (bench, outbox):
        pairs = [(settled, late) for settled in SETTLED for late in DeliveryState]
        signed = await sign(bench, *((f"player{number}", 1) for number in range(len(pairs))))
        for (settled, late), one in zip(pairs, signed, strict=True):
            await outbox.record([outcome(one.event.id, settled)])
            await outbox.record([outcome(one.event.id, late, due=1001 if late is PENDING else None)])
            expected = ACCEPTED if late is ACCEPTED else settled
            state, _, _, due, _ = row(bench, one.event.id)
            assert (state, due) == (expected, None), (settled, late)


async def test_outcomes_that_are_written_together_count_in_their_order(url: str) -> None:
    async with process(url) as (bench, outbox):
        pairs = [(first, late) for first in DeliveryState for late in DeliveryState]
        signed = await sign(bench, *((f"player{number}", 1) for number in range(len(pairs))))
        both = [
            outcome(one.event.id, state, due=1001 if state is PENDING else None)
            for pair, one in zip(pairs, signed, strict=True)
            for state in pair
        ]
        await outbox.record(both)
        for (first, late), one in zip(pairs, signed, strict=True):
            expected = late if PENDING is first or ACCEPTED is late else first
            state, _, _, due, _ = row(bench, one.event.id)
            assert (state, due) == (expected, 1001 if expected is PENDING else None), (first, late)


async def test_superseded_in_the_store_is_never_pending_again(url: str) -> None:
    async with process(url) as (bench, outbox):
        (older,) = await sign(bench, ("alice", 1), hold=RELAYS)
        (newer,) = await sign(bench, ("alice", 2), hold=RELAYS)
        await outbox.record(
            [
                outcome(older.event.id, PENDING, due=1001),
                outcome(older.event.id, ACCEPTED, relay=TWO),
            ]
        )
        assert row(bench, older.event.id)[0] == "superseded"
        assert row(bench, older.event.id, TWO)[0] == "accepted"
        assert row(bench, newer.event.id)[0] == "pending"


async def test_the_same_outcomes_may_come_again(url: str) -> None:
    async with process(url) as (bench, outbox):
        (signed,) = await sign(bench, ("alice", 1), hold=RELAYS)
        outcomes = [
            outcome(signed.event.id, PENDING, due=1005),
            outcome(signed.event.id, ACCEPTED, relay=TWO),
        ]
        for _ in range(2):
            await outbox.record(outcomes)
            assert row(bench, signed.event.id) == ("pending", "said so", 1, 1005, None)
            assert row(bench, signed.event.id, TWO) == ("accepted", "said so", 1, None, None)


async def test_an_outcome_of_an_unknown_event_does_no_harm(url: str) -> None:
    async with process(url) as (bench, outbox):
        (signed,) = await sign(bench, ("alice", 1))
        await outbox.record([outcome("0" * 64, ACCEPTED), outcome(signed.event.id, ACCEPTED)])
        assert row(bench, signed.event.id)[0] == "accepted"


async def test_has_newer_looks_at_the_same_address_alone(url: str) -> None:
    async with process(url) as (bench, outbox):
        older, newer, other = await sign(bench, ("alice", 1), ("ALICE", 2), ("bob", 3))
        assert await outbox.has_newer(older.event.id)
        assert not await outbox.has_newer(newer.event.id)
        assert not await outbox.has_newer(other.event.id)
        assert not await outbox.has_newer("0" * 64)


# who holds what


async def test_what_a_living_process_holds_is_left_to_it(url: str) -> None:
    async with process(url) as (_, outbox), process(url) as (other, others):
        await sign(other, ("alice", 1), hold=(ONE,))
        other.now = 1005.0
        await others.beat()
        assert await outbox.claim(ONE, now=1005, limit=10) == []


async def test_what_a_dead_process_held_is_taken_over(url: str) -> None:
    async with process(url) as (bench, outbox), process(url) as (dead, _):
        await sign(dead, ("alice", 1), hold=RELAYS)
        bench.now = 1006.0
        assert await outbox.claim(ONE, now=1006, limit=10) == [], "six seconds of silence are allowed"
        bench.now = 1006.1
        assert names(await outbox.claim(ONE, now=1006.1, limit=10)) == ["alice"]
        assert names(await outbox.claim(TWO, now=1006.1, limit=10)) == ["alice"]


async def test_a_process_never_takes_over_its_own(url: str) -> None:
    async with process(url) as (bench, outbox):
        await sign(bench, ("alice", 1), hold=RELAYS)
        bench.now = 9999.0
        assert await outbox.claim(ONE, now=9999, limit=10) == []


async def test_a_process_from_before_the_clock_was_set_back_is_dead(url: str) -> None:
    async with process(url, now=5000) as (dead, _):
        await sign(dead, ("alice", 1), hold=(ONE,))
    async with process(url, now=1400) as (_, outbox):
        assert await outbox.claim(ONE, now=1400, limit=10) == [], "freed, but due when it was made"
        assert names(await outbox.claim(ONE, now=5000, limit=10)) == ["alice"]


async def test_leaving_gives_back_what_is_held(url: str) -> None:
    async with process(url) as (_, outbox):
        async with process(url) as (leaving, leavings):
            await sign(leaving, ("alice", 1), hold=(ONE,))
            await leavings.leave()
        assert names(await outbox.claim(ONE, now=1000, limit=10)) == ["alice"]


async def test_an_idle_process_keeps_its_id_for_itself(url: str) -> None:
    """Another process clears away what is idle; a third must not get its id, and with it its deliveries."""
    async with process(url) as (idle, outbox):
        async with process(url, now=2000) as (second, seconds):
            await seconds.claim(ONE, now=2000, limit=10)
            await seconds.leave()
        third = Bench(url, now=2000)
        third.append(("alice", 1), hold=(ONE,))
        third.database.close()
        assert len({idle.holder, second.holder, third.holder}) == 3
        idle.now = 3000.0
        assert names(await outbox.claim(ONE, now=3000, limit=10)) == ["alice"]
