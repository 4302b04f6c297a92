from __future__ import annotations

import asyncio
import json
from typing import Any

import pytest

from app.delivery.connection import ConnectError
from app.delivery.fetch import fetch
from tests.relays import fake
from tests.relays.fake import FakeRelay, Peer
from tests.relays.virtual_time import virtual_time


def event(number: int) -> dict[str, Any]:
    return {"id": f"{number:064x}", "kind": 31250, "pubkey": "ab", "created_at": number, "tags": []}


def holding(count: int) -> FakeRelay:
    return FakeRelay(stored={event(number)["id"]: event(number) for number in range(count)})


@virtual_time
async def test_the_stored_events_in_the_relays_order() -> None:
    async with holding(3) as relay:
        fetched = await fetch(relay.url, [{"kinds": [31250]}], timeout=5, limit=10)
        assert [json.loads(one.text) for one in fetched.events] == [event(2), event(1), event(0)]
        assert fetched.complete
        await relay.until(lambda: relay.open_sockets == 0)


@virtual_time
async def test_a_relay_that_sends_too_much_is_cut_off() -> None:
    async with holding(500) as relay:
        fetched = await fetch(relay.url, [{}], timeout=5, limit=10)
        assert len(fetched.events) == 10
        assert fetched.reason == "the relay sends more events than are taken"


@virtual_time
async def test_several_filters_over_one_connection_each_paged() -> None:
    async with holding(25) as relay:
        relay.on_req = fake.capped(10)
        wanted = [{"ids": [event(3)["id"], event(4)["id"]]}, {"kinds": [31250], "until": 20, "since": 5}]
        fetched = await fetch(relay.url, wanted, timeout=5, limit=100)
        assert [one.created_at for one in fetched.events] == [4, 3, *range(20, 4, -1)]
        assert fetched.complete
        assert len(relay.attempts) == 1


def closed(peer: Peer, subscription: str, filters: object) -> None:
    peer.send("CLOSED", subscription, "auth-required:\nno")


def notice(peer: Peer, subscription: str, filters: object) -> None:
    peer.send("NOTICE", "bad req")


def hang_up(peer: Peer, subscription: str, filters: object) -> None:
    peer.close(1008, "go away")


@pytest.mark.parametrize(
    ("on_req", "words"),
    [
        (closed, "a reader has no key (auth-required: no)"),
        (notice, "no end of the stored events within 5 s; the relay says: bad req"),
        (hang_up, "go away"),
        (fake.nothing, "no end of the stored events within 5 s"),
    ],
)
@virtual_time
async def test_a_reason_when_the_relay_does_not_finish(on_req: Any, words: str) -> None:
    async with FakeRelay(on_req=on_req) as relay:
        before = asyncio.get_running_loop().time()
        fetched = await fetch(relay.url, [{}], timeout=5, limit=10)
        assert words in fetched.reason
        assert not fetched.complete
        assert asyncio.get_running_loop().time() - before <= 6


@virtual_time
async def test_no_relay_there() -> None:
    async with FakeRelay() as relay:
        url = relay.url
    with pytest.raises(ConnectError, match="Connect call failed"):
        await fetch(url, [{}], timeout=5, limit=10)


@virtual_time
async def test_a_flood_is_read_slowly() -> None:
    junk = [json.dumps(["EVENT", "x", event(1)])] * 20_000  # 0.2 ms each

    def flood(peer: Peer, subscription: str, filters: object) -> None:
        peer.send_text(*junk, json.dumps(["EOSE", subscription]))

    async with FakeRelay(on_req=flood) as relay:
        before = asyncio.get_running_loop().time()
        assert (await fetch(relay.url, [{}], timeout=60, limit=10)).complete
        assert asyncio.get_running_loop().time() - before >= 3
