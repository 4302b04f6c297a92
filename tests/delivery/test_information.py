"""Fetching a relay's document over real sockets, from relays that tell something else."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest

from app.delivery.information import SIZE_LIMIT, fetch_limitation
from app.delivery.limits import NoLimits
from app.nostr.nip11 import Limitation
from tests.relays import real
from tests.relays.fake import FakeRelay, inform, respond
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


@pytest.mark.parametrize(
    ("on_handshake", "words"),
    [
        (respond(404), "the answer is HTTP 404"),
        (inform(" " * (SIZE_LIMIT + 1)), "longer than 65536 bytes"),
        (inform("<html>"), "no JSON text"),
        (inform("[]"), "no JSON object"),
        (lambda peer, request: peer.transport.write(b"SSH-2.0\n\r\n\r\n"), "illegal status line"),
    ],
    ids=["404", "too long", "html", "list", "no HTTP"],
)
@virtual_time
async def test_a_reason_when_it_tells_nothing(on_handshake: Any, words: str) -> None:
    async with FakeRelay(on_handshake=on_handshake) as relay:
        with pytest.raises(NoLimits, match=words) as reason:
            await fetch_limitation(relay.url)
        assert str(reason.value).isprintable()


async def test_a_real_relay() -> None:
    async with real.rust_relay() as url:
        with pytest.raises(NoLimits):
            await fetch_limitation(url)
