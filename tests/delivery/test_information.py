"""Fetching a relay's document over real sockets, from relays that lie, stall and never end."""

from __future__ import annotations

import asyncio
import gzip
from typing import TYPE_CHECKING, Any

import pytest

from app.delivery.information import SIZE_LIMIT, fetch_limitation
from app.delivery.limits import NoLimits
from app.nostr.nip11 import Limitation
from tests.relays import real
from tests.relays.fake import FakeRelay, inform, never, respond
from tests.relays.virtual_time import virtual_time

if TYPE_CHECKING:
    from websockets.http11 import Request

    from tests.relays.fake import Peer


@virtual_time
async def test_what_the_relay_tells() -> None:
    async with FakeRelay(on_handshake=inform('{"limitation": {"max_message_length": 5000}}')) as relay:
        assert await fetch_limitation(relay.url) == Limitation(max_message_length=5000)
        await relay.until(lambda: relay.open_sockets == 0)


@virtual_time
async def test_nobody_else_is_asked() -> None:
    async with FakeRelay(on_handshake=inform("{}")) as other:

        def redirect(peer: Peer, request: Request) -> None:
            location = other.url.replace("ws", "http")
            peer.transport.write(
                f"HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n".encode()
            )

        async with FakeRelay(on_handshake=redirect) as relay:
            with pytest.raises(NoLimits, match="HTTP 302"):
                await fetch_limitation(relay.url)
        assert other.attempts == []


def endless(peer: Peer, request: Request) -> None:
    """A document that is longer than anybody would read."""
    peer.transport.write(b"HTTP/1.1 200 OK\r\n\r\n" + b" " * (SIZE_LIMIT + 1))


def dripping(peer: Peer, request: Request) -> None:
    """A byte a second, for ever."""
    peer.transport.write(b"HTTP/1.1 200 OK\r\n\r\n")

    def drip() -> None:
        if not peer.transport.is_closing():
            peer.transport.write(b" ")
            asyncio.get_running_loop().call_later(1, drip)

    drip()


def bomb(peer: Peer, request: Request) -> None:
    """Compressed, though nobody asked for that."""
    body = gzip.compress(b'{"limitation":{"max_message_length":1}}' + b" " * 10_000_000)
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(body)}\r\n\r\n"
    peer.transport.write(head.encode() + body)


@pytest.mark.parametrize(
    ("on_handshake", "words"),
    [
        (respond(404), "HTTP 404"),
        (never, "no answer within 10 s|ReadTimeout"),
        (dripping, "no answer within 10 s"),
        (endless, "longer than 65536 bytes"),
        (bomb, "no JSON"),
        (inform("<html>"), "no JSON text"),
        (inform("[]"), "no JSON object"),
        (lambda peer, request: peer.transport.write(b"SSH-2.0\r\n\r\n"), "illegal status line"),
        (lambda peer, request: peer.reset(), "ReadError|reset|disconnect"),
    ],
    ids=["404", "never", "dripping", "endless", "bomb", "html", "list", "no HTTP", "reset"],
)
@virtual_time
async def test_a_reason_when_it_tells_nothing(on_handshake: Any, words: str) -> None:
    loop = asyncio.get_running_loop()
    async with FakeRelay(on_handshake=on_handshake) as relay:
        started = loop.time()
        with pytest.raises(NoLimits, match=words) as reason:
            await fetch_limitation(relay.url)
        assert loop.time() - started <= 10.1
        assert str(reason.value).isprintable()


async def test_a_real_relay() -> None:
    async with real.rust_relay() as url:
        with pytest.raises(NoLimits):
            await fetch_limitation(url)
