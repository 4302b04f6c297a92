"""Every way a connection to a relay may go wrong, over real sockets and on virtual time."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from app.delivery.model import DeliveryState
from tests.delivery.case import case
from tests.relays import fake
from tests.relays.fake import Peer, closing, in_turn, ok, resetting, respond, store
from tests.relays.virtual_time import virtual_time

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.relays.fake import Event

ACCEPTED, PENDING, REJECTED = DeliveryState.ACCEPTED, DeliveryState.PENDING, DeliveryState.REJECTED
FAILED = DeliveryState.FAILED


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (closing(1001), "1001"),
        (closing(1008, "policy\nviolation"), "1008"),
        (closing(1011), "1011"),
        (resetting, "reset"),
        (lambda peer, event: peer.transport.close(), "without a word"),
    ],
    ids=["1001", "1008", "1011", "reset", "end of file"],
)
@virtual_time
async def test_a_connection_lost_before_the_ok_brings_the_same_bytes_again(act: Any, words: str) -> None:
    async with case(on_event=in_turn(act, ok(False, "duplicate: have it"))) as c:
        delivery = c.post()
        row = await c.outbox.until_state(delivery, ACCEPTED)
        assert c.relay.raw == [delivery.payload] * 2
        assert row.history[0].message.startswith("connection lost: ")
        assert words in row.history[0].message
        assert row.message == "duplicate: have it"
        assert c.relay.peak_sockets == 1


@virtual_time
async def test_a_relay_without_pong_is_given_up_and_tried_again() -> None:
    loop = asyncio.get_running_loop()
    async with case(pong=False) as c:
        await c.relay.until(lambda: len(c.relay.attempts) == 2)
        assert 20 < loop.time() - c.relay.attempts[0] < 45
        assert c.status.last_error == "no pong within 20 s"
        assert c.relay.peak_sockets == 1


@virtual_time
async def test_a_relay_with_pong_is_kept() -> None:
    async with case() as c:
        await asyncio.sleep(600)
        assert len(c.relay.attempts) == 1


@pytest.mark.parametrize(
    ("on_handshake", "words"),
    [
        (fake.never, "no websocket handshake within 10 s"),
        (respond(200), "HTTP 200"),
        (respond(302), "HTTP 302"),
        (respond(503), "HTTP 503"),
        (lambda peer, request: peer.transport.write(b"SSH-2.0-OpenSSH_9.6\r\n"), "no websocket"),
        (lambda peer, request: peer.transport.write(b"HTTP/1.1 101 Yes\r\n\r\n"), "no websocket"),
        (lambda peer, request: peer.reset(), "reset"),
    ],
    ids=["never", "200", "302", "503", "no HTTP", "no upgrade", "reset"],
)
@virtual_time
async def test_a_failed_handshake_has_a_reason_and_is_tried_again(on_handshake: Any, words: str) -> None:
    async with case(on_handshake=on_handshake) as c:
        delivery = c.post()
        await c.relay.until(lambda: len(c.relay.attempts) == 2)
        assert words in c.status.last_error
        assert (c.outbox.claims, c.engine.accepting()) == (0, frozenset())
        c.relay.on_handshake = fake.upgrade
        await c.outbox.until_state(delivery, ACCEPTED)
        assert c.relay.peak_sockets == 1


def noise(send: Callable[[Peer], None]) -> Callable[[Peer, Event], None]:
    """Make noise before an honest answer."""

    def on_event(peer: Peer, event: Event) -> None:
        send(peer)
        store(peer, event)

    return on_event


@pytest.mark.parametrize(
    "send",
    [
        lambda peer: peer.send_text('["NOTICE","' + "x" * 2 * 1024 * 1024 + '"]'),
        lambda peer: peer.send_text(*["[]"] * 5_000),
        lambda peer: peer.send_binary(b"\x00\xff" * 100),
        lambda peer: peer.send_text("[]", "{", "null", "", "[" * 200_000, "\x00"),
        lambda peer: peer.send_in_fragments('["NOT', "ICE", '","hi"]'),
    ],
    ids=["2 MiB", "flood", "binary", "garbage", "fragments"],
)
@virtual_time
async def test_noise_does_not_hide_the_answer(send: Callable[[Peer], None]) -> None:
    async with case(on_event=noise(send)) as c:
        row = await c.deliver()
        await c.deliver(1)
        assert len(row.history) == 1
        assert len(c.relay.attempts) == 1


@virtual_time
async def test_a_message_beyond_all_bounds_ends_the_connection() -> None:
    def endless(peer: Peer, event: Event) -> None:
        peer.send_text("x" * (4 * 1024 * 1024 + 1))

    async with case(on_event=in_turn(endless, store)) as c:
        row = await c.deliver()
        assert row.history[0].message.startswith("connection lost: ")
        assert len(c.relay.attempts) == 2


@virtual_time
async def test_an_ok_in_fragments_counts() -> None:
    def on_event(peer: Peer, event: Event) -> None:
        answer = json.dumps(["OK", event["id"], True, ""])
        peer.send_in_fragments(answer[:20], answer[20:50], answer[50:])

    async with case(on_event=on_event) as c:
        await c.deliver()


@virtual_time
async def test_a_flood_is_read_slowly() -> None:
    loop = asyncio.get_running_loop()

    def flood(peer: Peer, event: Event) -> None:
        peer.send_text(*["[]"] * 50_000)
        store(peer, event)

    async with case(on_event=flood) as c:
        started = loop.time()
        row = await c.deliver()
        assert loop.time() - started > 8  # 50,000 x 0.2 ms, less what lies in buffers
        assert row.history[-1].state is ACCEPTED


@virtual_time
async def test_a_relay_that_accepts_and_resets_for_five_minutes() -> None:
    async with case(on_event=resetting) as c:
        for number in range(50):
            c.post(number)
        await asyncio.sleep(300)
        assert len(c.relay.attempts) < 60
        assert c.relay.peak_sockets == 1
        c.relay.on_event = store
        healed = asyncio.get_running_loop().time()
        await c.outbox.until(lambda: c.outbox.count(ACCEPTED) == 50)
        assert asyncio.get_running_loop().time() - healed <= 2 * 300
        assert c.relay.peak_sockets == 1


@virtual_time
async def test_a_relay_that_resets_before_the_handshake_for_five_minutes() -> None:
    async with case(on_accept=lambda peer: peer.reset()) as c:
        await asyncio.sleep(300)
        assert 5 < len(c.relay.attempts) < 60
