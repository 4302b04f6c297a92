"""Hostile relays, each beside a good one: the board comes from that, and what was wrong is said."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import Any

import pytest

from app.delivery import relay_reader
from app.delivery.reader import Reader
from app.delivery.relay_reader import FORGED_LIMIT, ReaderRelay, ReaderState
from tests.clock import Clock
from tests.delivery.board_relays import (
    ALICE,
    BOB,
    NOW,
    OTHER,
    SECRET,
    holding,
    message,
    publish,
    relay_of,
    rows,
    saying,
    signed,
    until,
)
from tests.relays import fake
from tests.relays.fake import FakeRelay, OnReq, Peer, in_turn, respond
from tests.relays.virtual_time import virtual_time

LIVE, READING, FAILED = ReaderState.LIVE, ReaderState.READING, ReaderState.FAILED
PAGED = "ignores the time"  # that is asked for: these relays send the same again with every page
BOARD = [(1, "alice", 90), (2, "bob", 61)]
EOSE = '["EOSE","SUB"]'

forged = {**BOB.to_dict(), "content": '{"v":1,"username":"bob","score":120}'}
forged["tags"] = [*forged["tags"][:3], ["score", "120"]]
stale = signed("alice", 120, NOW - 60)
note: dict[str, Any] = {**ALICE.to_dict(), "kind": 1}


def hang_up(peer: Peer, subscription: str, filters: object) -> None:
    peer.close(1008, "go away")


def reset(peer: Peer, subscription: str, filters: object) -> None:
    peer.reset()


HOSTILE: dict[str, tuple[OnReq, ReaderState, bool, str]] = {
    "forged": (saying(message(forged), EOSE), LIVE, False, PAGED),
    "forged with an id of another": (saying(message({**forged, "id": ALICE.id}), EOSE), LIVE, False, PAGED),
    "stale versions last": (saying(message(ALICE), message(stale), EOSE), LIVE, False, PAGED),
    "other kinds": (saying(message(note), EOSE), LIVE, False, PAGED),
    "other authors": (saying(message(signed("carla", 120, NOW, OTHER)), EOSE), LIVE, False, PAGED),
    "alien subscriptions": (saying(message(signed("carla", 1), "x"), '["EOSE","x"]', EOSE), LIVE, True, ""),
    "no EOSE": (saying(message(ALICE)), FAILED, False, "no end of the stored events within 10 s"),
    "EOSE without a name": (saying('["EOSE"]'), FAILED, False, "no end of the stored events"),
    "closed": (saying('["CLOSED","SUB","error: \\u202eno\\n"]'), FAILED, False, "refused: error: \ufffdno "),
    "wants authentication": (
        saying('["AUTH","c"]', '["CLOSED","SUB","auth-required: members"]'),
        FAILED, False, "a reader has no key",
    ),
    "notice only": (saying('["NOTICE","bad req"]'), FAILED, False, "the relay says: bad req"),
    "closes": (hang_up, FAILED, False, "go away"),
    "resets": (reset, FAILED, False, ""),
    "no messages": (saying("[]", "{", "null", "", "[" * 100_000, "x" * 300_000, EOSE), LIVE, True, ""),
    "flood": (saying(*["[]"] * 5000, EOSE), LIVE, True, ""),
    "flood of one event": (saying(*[message(ALICE)] * 3000, EOSE), LIVE, False, PAGED),
    "events for ever": (fake.capped(1), LIVE, True, ""),
}  # fmt: skip


@pytest.mark.parametrize("name", HOSTILE)
@virtual_time
async def test_a_hostile_relay_costs_the_board_nothing(name: str) -> None:
    script, state, complete, words = HOSTILE[name]
    async with (
        holding(ALICE, BOB) as good,
        holding(ALICE, on_req=script) as bad,
        Reader([bad.url, good.url], SECRET.pubkey, clock=Clock(NOW), rng=lambda: 0.0) as reader,
    ):
        started = asyncio.get_running_loop().time()
        await reader.ready(15)
        assert asyncio.get_running_loop().time() - started <= 15
        assert rows(reader) == BOARD
        assert relay_of(reader, good).complete
        found = relay_of(reader, bad)
        assert (found.state, found.complete) == (state, complete)
        assert words in found.reason
        assert found.reason.isprintable()
        assert reader.complete is complete
        publish(good, signed("carla", 5))
        await until(reader, lambda: len(reader.board) == 3)


@pytest.mark.parametrize("script", [{"on_handshake": respond(503)}, {"on_handshake": fake.never}])
@virtual_time
async def test_a_relay_that_does_not_open(script: dict[str, Any]) -> None:
    async with (
        holding(ALICE, BOB) as good,
        FakeRelay(**script) as bad,
        Reader([bad.url, good.url], SECRET.pubkey, clock=Clock(NOW)) as reader,
    ):
        assert not await reader.ready(3)
        assert rows(reader) == BOARD
        assert not relay_of(reader, bad).complete
        assert bad.peak_sockets <= 1


@virtual_time
async def test_a_forged_copy_that_comes_first_hides_no_good_one() -> None:
    async with (
        holding(on_req=saying(message({**BOB.to_dict(), "sig": "0" * 128}), EOSE)) as bad,
        Reader([bad.url], SECRET.pubkey, clock=Clock(NOW)) as reader,
    ):
        await reader.ready()
        assert rows(reader) == []
        assert reader.relays[0].events == 0
        assert reader.relays[0].ignored >= 1
        publish(bad, BOB)
        await until(reader, lambda: rows(reader) == [(1, "bob", 61)])


@virtual_time
async def test_a_relay_that_forges_without_end_is_left_alone_for_a_while(
    caplog: pytest.LogCaptureFixture,
) -> None:
    unsigned = (signed(f"p{n}", 1).to_dict() for n in range(FORGED_LIMIT + 500))
    texts = [message({**event, "sig": "0" * 128}, "page1") for event in unsigned]
    with caplog.at_level(logging.WARNING):
        async with (
            holding(ALICE, BOB) as good,
            holding(on_req=in_turn(fake.nothing, saying(*texts))) as bad,
            Reader([bad.url, good.url], SECRET.pubkey, clock=Clock(NOW), rng=lambda: 0.0) as reader,
        ):
            await until(reader, lambda: relay_of(reader, bad).state is FAILED)
            found = relay_of(reader, bad)
            assert found.reason == f"it sent {FORGED_LIMIT} forged events, or more"
            await reader.ready(9)
            assert found.ignored >= FORGED_LIMIT
            assert rows(reader) == BOARD
    assert "forged events, or more; connecting again in" in caplog.text


@pytest.mark.parametrize(
    "junk",
    [
        ['["EVENT","SUB",{"id":"x"}]'] * 20_000,  # 0.2 ms each
        [f'["EVENT","SUB",{{"id":"{"x" * 2000}"}}]'] * 10_000,  # 0.4 ms each
        [message(ALICE, "live")] * 20_000,
    ],
    ids=["short", "long", "copies of a live score"],
)
@virtual_time
async def test_a_flood_is_read_slowly(junk: list[str]) -> None:
    relay = holding(ALICE, on_req=in_turn(saying(message(ALICE), EOSE, *junk, message(BOB)), fake.nothing))
    loop = asyncio.get_running_loop()
    async with relay, Reader([relay.url], SECRET.pubkey, clock=Clock(NOW)) as reader:
        await until(reader, lambda: len(reader.board) == 1)
        started = loop.time()
        await until(reader, lambda: len(reader.board) == 2)
        assert loop.time() - started >= 3  # 4 s less a grace of 0.5 s, and what the last read held


@virtual_time
async def test_the_events_taken_from_one_relay_are_capped(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay_reader, "EVENT_LIMIT", 20)
    many = [signed(f"p{n}", n, NOW - n) for n in range(40)]
    async with holding(*many) as relay, Reader([relay.url], SECRET.pubkey, clock=Clock(NOW)) as reader:
        assert not await reader.ready()
        assert len(reader.board) == 20
        assert reader.relays[0].reason == "the relay sends more events than are taken"


@virtual_time
async def test_reading_rests_while_much_waits_to_be_judged(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(relay_reader, "WAITING_LIMIT", 30)
    many = [signed(f"p{n}", n % 121, NOW - n) for n in range(600)]
    peak = 0
    async with holding(*many) as relay, Reader([relay.url], SECRET.pubkey, clock=Clock(NOW)) as reader:
        judging = reader._readers[0]._judging
        offer = judging.offer

        def counted(source: Any, candidates: Any) -> None:
            nonlocal peak
            offer(source, candidates)
            peak = max(peak, len(judging))

        monkeypatch.setattr(judging, "offer", counted)
        assert await reader.ready(60)
        assert len(reader.board) == 600
        assert peak <= 30 + 2 * 64 * 1024 // len(json.dumps(ALICE.to_dict()))


@virtual_time
async def test_attempts_are_few_and_one_socket_at_a_time() -> None:
    """Five minutes of a relay that resets every reading."""
    async with (
        holding(on_req=reset) as relay,
        Reader([relay.url], SECRET.pubkey, clock=Clock(NOW), rng=lambda: 0.0) as reader,
    ):
        await asyncio.sleep(300)
        assert 2 < len(relay.attempts) < 20
        assert relay.peak_sockets == 1
        assert reader.relays == (ReaderRelay(relay.url, FAILED, reader.relays[0].reason, False, 0, 0),)
        assert reader.relays[0].reason
