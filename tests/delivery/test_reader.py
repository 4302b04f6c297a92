from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING, Any

import pytest
from nostr_sdk import Keys

from app.delivery import judging
from app.delivery.reader import Reader
from app.delivery.relay_reader import ReaderState
from app.nostr import nip19
from app.nostr.signature import record_holds
from app.scores.score_event import sign_deletion
from tests.clock import Clock
from tests.delivery.board_relays import (
    ALICE,
    BOB,
    NOW,
    OLD,
    SECRET,
    holding,
    publish,
    rows,
    saying,
    signed,
    until,
)
from tests.relays import fake
from tests.relays.events import signed_event
from tests.relays.virtual_time import virtual_time

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from app.delivery.connection import Connection
    from tests.relays.fake import FakeRelay


def reading(*relays: FakeRelay, keys: Any = SECRET.pubkey, clock: Clock | None = None) -> Reader:
    return Reader([relay.url for relay in relays], keys, clock=clock or Clock(NOW), rng=lambda: 0.0)


@virtual_time
async def test_one_board_of_what_several_relays_hold() -> None:
    late = signed("bob", 100, NOW + 5)
    async with holding(ALICE, BOB) as one, holding(ALICE, late) as two:
        async with reading(one, two) as reader:
            assert await reader.ready()
            assert rows(reader) == [(1, "bob", 100), (2, "alice", 90)]
            assert [relay.state for relay in reader.relays] == [ReaderState.LIVE, ReaderState.LIVE]
            assert [relay.complete for relay in reader.relays] == [True, True]
        await one.until(lambda: one.open_sockets == 0)
        assert (one.peak_sockets, two.peak_sockets) == (1, 1)


@virtual_time
async def test_it_asks_without_an_app_filter() -> None:
    async with (
        holding(ALICE) as relay,
        reading(relay, keys=[SECRET.pubkey, nip19.encode("npub", bytes.fromhex(OLD.pubkey))]) as reader,
    ):
        await reader.ready()
        wanted = {"kinds": [31250, 5], "authors": sorted([SECRET.pubkey, OLD.pubkey])}
        assert relay.reqs[:2] == [[{**wanted, "limit": 1}], [{**wanted, "limit": 5000}]]


@virtual_time
async def test_changes_name_the_rows_and_come_joined() -> None:
    async with holding(ALICE, BOB) as relay, reading(relay) as reader:
        await reader.ready()
        changes = reader.changes()
        following = asyncio.ensure_future(anext(changes))
        await asyncio.sleep(0)
        publish(relay, signed("Alice", 10, NOW + 1))
        change = await following
        assert change == (reader.board.version, {"alice"})
        assert rows(reader) == [(1, "bob", 61), (2, "Alice", 10)]
        version = reader.board.version
        publish(relay, signed("carla", 5))
        publish(relay, sign_deletion(SECRET, d="bob", created_at=NOW))
        await until(reader, lambda: reader.board.version == version + 2)
        assert await anext(changes) == (version + 2, {"carla", "bob"})
        assert rows(reader) == [(1, "Alice", 10), (2, "carla", 5)]
        await changes.aclose()


@virtual_time
async def test_a_stored_deletion_and_a_rotated_key() -> None:
    events = (
        signed("alice", 90, NOW, OLD),
        signed("alice", 30, NOW + 1, SECRET),
        signed("bob", 50, NOW, OLD),
        sign_deletion(SECRET, d="bob", created_at=NOW),
    )
    async with holding(*events) as relay:
        async with reading(relay, keys={OLD.pubkey}) as reader:
            await reader.ready()
            assert rows(reader) == [(1, "alice", 90), (2, "bob", 50)]
        async with reading(relay, keys={OLD.pubkey, SECRET.pubkey}) as reader:
            await reader.ready()
            # The new key's deletion names its own address, and the name's scores of both keys are meant.
            assert rows(reader) == [(1, "alice", 30)]


@virtual_time
async def test_what_is_ahead_of_the_clock_comes_in_when_its_time_has_come() -> None:
    clock = Clock(NOW)
    async with holding(ALICE, signed("bob", 1, NOW + 1000)) as relay, reading(relay, clock=clock) as reader:
        await reader.ready()
        assert rows(reader) == [(1, "alice", 90)]
        assert reader.board.early == 1
        clock.now = NOW + 100
        await until(reader, lambda: len(reader.board) == 2)
        assert reader.board.early == 0


@virtual_time
async def test_the_board_comes_by_its_deadline_without_the_one_that_is_slow() -> None:
    loop = asyncio.get_running_loop()
    async with (
        holding(ALICE) as good,
        holding(BOB, on_req=fake.nothing) as slow,
        reading(good, slow) as reader,
    ):
        started = loop.time()
        assert not await reader.ready(3)
        assert 3 <= loop.time() - started < 3.5
        assert rows(reader) == [(1, "alice", 90)]
        assert [relay.state for relay in reader.relays] == [ReaderState.LIVE, ReaderState.READING]
        assert not reader.complete


@virtual_time
async def test_it_does_not_wait_for_one_that_is_not_there() -> None:
    loop = asyncio.get_running_loop()
    async with holding(BOB) as gone:
        pass
    async with holding(ALICE) as good, reading(good, gone) as reader:
        started = loop.time()
        assert not await reader.ready(30)
        assert loop.time() - started < 1
        assert rows(reader) == [(1, "alice", 90)]
        assert reader.relays[1].state is ReaderState.FAILED
        assert "Connect call failed" in reader.relays[1].reason


def counted(checked: list[bytes]) -> Callable[[bytes], bool]:
    def check(record: bytes) -> bool:
        checked.append(record)
        return record_holds(record)

    return check


@virtual_time
async def test_a_signature_is_checked_once_for_all_relays(monkeypatch: pytest.MonkeyPatch) -> None:
    checked: list[bytes] = []
    monkeypatch.setattr(
        judging, "record_holds", lambda record: (checked.append(record), record_holds(record))[1]
    )
    stale = signed("alice", 120, NOW - 1)
    foreign = signed("carla", 120, secret=OLD)
    three = [holding(ALICE, BOB) for _ in range(3)]
    async with three[0], three[1], three[2], reading(*three) as reader:
        assert await reader.ready()
        assert len(checked) == 2
        for event in (ALICE, BOB, stale, foreign):
            publish(three[0], event)
        publish(three[0], signed("dora", 1))
        await until(reader, lambda: len(reader.board) == 3)
        assert len(checked) == 3


def test_what_cannot_be_read_from_or_against() -> None:
    for relays, keys in ((["ftp://x"], SECRET.pubkey), (["wss://x"], "npub1"), (["wss://x"], [])):
        with pytest.raises(ValueError, match=r"."):
            Reader(relays, keys)


# 1,203 players over a relay's cap of 500


async def stored_by(url: str, events: Sequence[str]) -> None:
    """Publish to a real relay, all of it accepted."""
    from app.delivery.connection import connect

    class Answers:
        def __init__(self) -> None:
            self.count = 0
            self.all = asyncio.Event()

        def received(self, messages: list[bytes]) -> None:
            self.count += sum(b"true" in text for text in messages)
            if self.count == len(events):
                self.all.set()

        def writable(self) -> None: ...

    answers = Answers()
    connection: Connection = await connect(url, answers)
    connection.send([f'["EVENT",{event}]' for event in events])
    await asyncio.wait_for(answers.all.wait(), 60)
    connection.close()
    await connection.lost


@pytest.mark.parametrize("crowded", [1, 700])
async def test_1203_players_over_a_cap_of_500_on_a_real_relay(rust_relay: str, crowded: int) -> None:
    keys, now = Keys.generate(), int(time.time())
    times = [now - max(0, n - crowded + 1) for n in range(1203)]
    await stored_by(rust_relay, [signed_event(keys, f"p{n}", n % 121, at) for n, at in enumerate(times)])
    async with Reader([rust_relay], keys.public_key().to_hex()) as reader:
        complete = await reader.ready(60)
        if crowded == 1:
            assert complete
            assert len(reader.board) == 1203
        else:
            assert not complete
            assert len(reader.board) >= 503
            assert "of one second" in reader.relays[0].reason
        await stored_by(rust_relay, [signed_event(keys, "newcomer", 120, now + 1)])
        await asyncio.wait_for(until(reader, lambda: reader.board.row("newcomer")), 30)


@pytest.mark.parametrize(("cap", "complete", "count"), [(500, False, 1003), (1000, True, 1203)])
@virtual_time
async def test_1203_players_of_which_700_in_one_second(cap: int, complete: bool, count: int) -> None:
    events = [signed(f"p{n}", n % 121, NOW - max(0, n - 699)) for n in range(1203)]
    async with holding(*events, cap=cap) as relay, reading(relay) as reader:
        assert await reader.ready(60) is complete
        assert len(reader.board) == count
        # What one relay has to leave out, another has.
        if not complete:
            async with holding(*events, cap=2000) as other, reading(relay, other) as both:
                assert not await both.ready(60)
                assert len(both.board) == 1203


@virtual_time
async def test_a_relay_that_is_cut_off_is_read_again_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    """Somebody may have brought it an old event meanwhile: a service after an outage, or an auditor."""
    checked: list[bytes] = []
    monkeypatch.setattr(
        judging, "record_holds", lambda record: (checked.append(record), record_holds(record))[1]
    )
    many = [signed(f"p{n}", n % 61, NOW - n) for n in range(60)]
    async with holding(ALICE, *many, cap=25) as relay, reading(relay) as reader:
        assert await reader.ready()
        version = reader.board.version
        assert len(checked) == 61
        old = signed("bob", 61, NOW - 400 * 86_400)
        relay.stored[old.id] = old.to_dict()
        relay.peers[0].reset()
        await until(reader, lambda: not reader.complete)
        assert len(reader.board) == 61, "what has been read stays"
        await until(reader, lambda: reader.complete)
        assert reader.board.row("bob") is not None
        assert reader.board.version == version + 1
        assert len(checked) == 62, "what is known is not judged again"


@virtual_time
async def test_a_second_reading_completes_the_first() -> None:
    async with holding(ALICE, on_req=saying('["NOTICE","busy"]')) as relay, reading(relay) as reader:
        assert not await reader.ready(20)
        assert reader.relays[0].reason == "no end of the stored events within 10 s; the relay says: busy"
        relay.on_req = fake.capped(500)
        await until(reader, lambda: reader.complete)
        assert "since" not in relay.reqs[-1][0]
        assert rows(reader) == [(1, "alice", 90)]
