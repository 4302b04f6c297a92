"""Events that relays hold and this store did not know."""

from __future__ import annotations

import pytest

from app.nostr.event import Event, sign_event
from app.scores.score_event import sign_deletion, sign_score
from app.store.refusals import ClockBehind
from app.store.scores import find_score, latest_score
from tests.service import rows
from tests.store.bench import RELAYS, SECRET
from tests.store.test_outbox import process, sign

ONE, TWO = RELAYS


def score(name: str = "Alice", points: int = 99, at: int = 1_010) -> Event:
    return sign_score(SECRET, username=name, score=points, created_at=at)


async def test_an_address_goes_on_from_what_a_relay_holds(url: str) -> None:
    async with process(url) as (bench, outbox):
        (known,) = await sign(bench, ("alice", 1))
        assert not await outbox.has_newer(known.event.id)
        assert await outbox.adopt(ONE, held := score())
        assert await outbox.has_newer(known.event.id)
        found = await bench.store.read(lambda connection: latest_score(connection, "alice"))
        assert found is not None
        assert (found.event_id, found.username, found.score) == (held.id, "Alice", 99)
        assert found.payload == held.to_json()
        assert [(relay.url, relay.state) for relay in found.relays] == [(ONE, "accepted")]
        (after,) = await sign(bench, ("alice", 2))
        assert after.event.created_at == 1_011
        states = {(points, relay): state for _, points, relay, state in bench.states()}
        assert states[1, TWO] == "pending", "the other relay still gets the score that was acknowledged"


async def test_the_same_event_of_two_relays_is_one(url: str) -> None:
    async with process(url) as (bench, outbox):
        assert await outbox.adopt_all([(ONE, score()), (TWO, score()), (ONE, score())]) == [True] * 3
        assert bench.states() == [("Alice", 99, ONE, "accepted"), ("Alice", 99, TWO, "accepted")]


async def test_many_at_once_come_to_what_they_would_one_by_one(url: str) -> None:
    async with process(url) as (bench, outbox):
        (known,) = await sign(bench, ("alice", 1))
        held = [
            (ONE, score("bob", 5)),
            (TWO, score("bob", 6)),  # of the same second: the store keeps one version
            (TWO, known.event),
            (ONE, score("carol", 7, at=2_000)),  # too far ahead
            (ONE, score("dora", 8)),
            (TWO, score("dora", 8)),
        ]
        assert await outbox.adopt_all(held) == [True, True, True, False, True, True]
        assert bench.states() == [
            ("alice", 1, ONE, "pending"),
            ("alice", 1, TWO, "accepted"),
            ("bob", 5, ONE, "accepted"),
            ("dora", 8, ONE, "accepted"),
            ("dora", 8, TWO, "accepted"),
        ]
        assert await outbox.adopt_all([]) == []


async def test_an_event_of_our_own_is_delivered(url: str) -> None:
    async with process(url) as (bench, outbox):
        await outbox.adopt(ONE, score())
        (signed,) = await sign(bench, ("bob", 2))
        assert await outbox.adopt(TWO, signed.event)
        assert bench.states()[1:] == [("bob", 2, ONE, "pending"), ("bob", 2, TWO, "accepted")]


async def test_an_event_of_a_second_that_is_taken_changes_nothing(url: str) -> None:
    async with process(url) as (bench, outbox):
        await sign(bench, ("alice", 1))
        before = bench.states()
        assert await outbox.adopt(ONE, score(at=1_000))
        assert bench.states() == before


async def test_a_clock_that_is_behind_hinders_nothing_and_stays_so(url: str) -> None:
    async with process(url) as (bench, outbox):
        bench.now += 600
        await sign(bench, ("alice", 1))
        bench.now -= 600
        assert await outbox.adopt(ONE, score("bob"))
        assert ("bob", 99, ONE, "accepted") in bench.states()
        with pytest.raises(ClockBehind):
            await sign(bench, ("carol", 1))


@pytest.mark.parametrize(("ahead", "taken"), [(900, True), (901, False)])
async def test_what_is_too_far_ahead_would_block_its_name(url: str, ahead: int, taken: bool) -> None:
    async with process(url) as (bench, outbox):
        assert await outbox.adopt(ONE, score(at=1_000 + ahead)) is taken
        assert len(bench.states()) == taken


async def test_a_deletion_covers_what_was_before_it(url: str) -> None:
    async with process(url) as (bench, outbox):
        (known,) = await sign(bench, ("alice", 1))
        deletion = sign_deletion(SECRET, d="alice", created_at=1_020)
        assert await outbox.adopt(ONE, deletion)
        found = await bench.store.read(lambda connection: find_score(connection, known.event.id))
        assert found is not None
        assert found.deleted_at == 1_020
        (after,) = await sign(bench, ("alice", 2))
        assert after.event.created_at == 1_021


@pytest.mark.parametrize(
    ("kind", "tags", "content", "d"),
    [
        (31250, [["d", "alice"]], "not ours", "alice"),
        (31250, [["d", "alice"], ["app", "other"], ["score", "999"]], "{}", "alice"),
        (31250, [], "", ""),
        (1, [["d", "alice"]], "hello", None),
        (5, [["e", "00" * 32]], "", None),
        (5, [["a", f"31250:{'ab' * 32}:alice"]], "", None),
    ],
    ids=["no score", "other app", "no name", "a note", "deletion by id", "deletion of another's"],
)
async def test_other_software_with_the_same_key(
    url: str, kind: int, tags: list[list[str]], content: str, d: str | None
) -> None:
    """A score's address is taken whatever stands there; everything else concerns no score."""
    event = sign_event(SECRET, created_at=1_010, kind=kind, tags=tags, content=content)
    async with process(url) as (_, outbox):
        assert await outbox.adopt(ONE, event) is (d is not None)
        assert rows(url, "SELECT d, score FROM event") == ([] if d is None else [(d, 0)])
