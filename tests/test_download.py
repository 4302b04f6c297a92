"""A document over real sockets, from hosts that lie, stall and never end."""

from __future__ import annotations

import asyncio
import gzip
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from app.download import DownloadFailed, download
from tests.relays.fake import FakeRelay, never, respond
from tests.relays.virtual_time import virtual_time

if TYPE_CHECKING:
    from websockets.http11 import Request

    from tests.relays.fake import Peer

LIMIT = 1000


async def fetch(url: str) -> bytes:
    async with httpx.AsyncClient(trust_env=False, timeout=None) as client:
        return await download(client, url.replace("ws", "http", 1), accept="text/x-test", limit=LIMIT)


@virtual_time
async def test_a_document_of_the_whole_length() -> None:
    asked: list[Request] = []

    def answer(peer: Peer, request: Request) -> None:
        asked.append(request)
        peer.transport.write(b"HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n" + b"x" * 1000)

    async with FakeRelay(on_handshake=answer) as host:
        assert await fetch(f"{host.url}/a?b") == b"x" * 1000
    assert asked[0].path == "/a?b"
    assert (asked[0].headers["Accept"], asked[0].headers["Accept-Encoding"]) == ("text/x-test", "identity")


@virtual_time
async def test_what_is_packed_all_the_same_stays_so() -> None:
    bomb = gzip.compress(b" " * 500_000)
    head = f"HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {len(bomb)}\r\n\r\n".encode()
    async with FakeRelay(on_handshake=lambda peer, _: peer.transport.write(head + bomb)) as host:
        assert await fetch(host.url) == bomb


@virtual_time
async def test_a_redirect_is_the_clients_business() -> None:
    head = b"HTTP/1.1 302 Found\r\nLocation: http://127.0.0.1:1\r\nContent-Length: 0\r\n\r\n"
    async with FakeRelay(on_handshake=lambda peer, _: peer.transport.write(head)) as host:
        with pytest.raises(DownloadFailed, match="the answer is HTTP 302"):
            await fetch(host.url)


def endless(peer: Peer, request: Request) -> None:
    """Longer than anybody would read, and it does not end there."""
    peer.transport.write(b"HTTP/1.1 200 OK\r\n\r\n" + b" " * (LIMIT + 1))


def dripping(peer: Peer, request: Request) -> None:
    """A byte a second, for ever."""
    peer.transport.write(b"HTTP/1.1 200 OK\r\n\r\n")

    def drip() -> None:
        if not peer.transport.is_closing():
            peer.transport.write(b" ")
            asyncio.get_running_loop().call_later(1, drip)

    drip()


@pytest.mark.parametrize(
    ("on_handshake", "words"),
    [
        (respond(404), "the answer is HTTP 404"),
        (never, "no answer within 10 s"),
        (dripping, "no answer within 10 s"),
        (endless, "longer than 1000 bytes"),
        (lambda peer, request: peer.transport.write(b"SSH-2.0\r\n\r\n"), "illegal status line"),
        (lambda peer, request: peer.reset(), "ReadError|reset|disconnect"),
    ],
    ids=["404", "never", "dripping", "endless", "no HTTP", "reset"],
)
@virtual_time
async def test_a_reason_when_there_is_none(on_handshake: Any, words: str) -> None:
    loop = asyncio.get_running_loop()
    async with FakeRelay(on_handshake=on_handshake) as host:
        started = loop.time()
        with pytest.raises(DownloadFailed, match=words):
            await fetch(host.url)
        assert loop.time() - started <= 10.1


@pytest.mark.parametrize("url", ["http://127.0.0.1:1/", "ftp://x", "http://[::1"])
async def test_a_reason_where_nobody_is(url: str) -> None:
    with pytest.raises(DownloadFailed, match=r"\S"):
        await fetch(url)
