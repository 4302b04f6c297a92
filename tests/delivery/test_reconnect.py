"""One connection is kept, on virtual time: when it is opened again, and what is said of it."""

from __future__ import annotations

import asyncio
import logging
from contextlib import asynccontextmanager, suppress
from typing import TYPE_CHECKING, Any

import pytest

from app.delivery.reconnect import keep_connected
from tests.relays.fake import FakeRelay, nothing, respond, upgrade
from tests.relays.virtual_time import virtual_time

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from app.delivery.connection import Connection


class Client:
    """Uses each connection for some seconds, or until it is lost; keeps what it hears."""

    def __init__(self, *uses: float) -> None:
        self.uses = list(uses)
        self.connected = asyncio.Event()
        self.connections: list[Connection] = []
        self.partings: list[tuple[str, bool]] = []

    async def use(self, connection: Connection) -> str:
        self.connections.append(connection)
        self.connected.set()
        if self.uses:
            await asyncio.sleep(self.uses.pop(0))
            return "it was enough"
        return await connection.lost

    async def parted(self, reason: str, *, connected: bool) -> None:
        self.partings.append((reason, connected))

    def received(self, messages: list[bytes]) -> None: ...

    def writable(self) -> None: ...


@asynccontextmanager
async def kept(relay: FakeRelay, client: Any) -> AsyncIterator[asyncio.Task[None]]:
    """The client, kept connected with the shortest pauses: half of 1, 2, 4, ... seconds."""
    task = asyncio.ensure_future(keep_connected(relay.url, client, lambda: 0.0))
    yield task
    task.cancel()
    with suppress(asyncio.CancelledError):
        await task


@virtual_time
async def test_pauses_double_until_a_connection_held_for_a_minute(caplog: pytest.LogCaptureFixture) -> None:
    client = Client(1, 1, 59, 61, 1)
    with caplog.at_level(logging.WARNING):
        async with FakeRelay() as relay, kept(relay, client):
            await relay.until(lambda: len(relay.attempts) == 6)
            gaps = [b - a for a, b in zip(relay.attempts, relay.attempts[1:], strict=False)]
    assert gaps == pytest.approx([1 + 0.5, 1 + 1, 59 + 2, 61 + 0.5, 1 + 1], abs=0.1)
    assert client.partings == [("it was enough", True)] * 5
    assert relay.peak_sockets == 1
    assert all(connection.lost.done() for connection in client.connections)
    assert caplog.messages[0] == f"{relay.url}: it was enough; connecting again in 0.5 s"


@virtual_time
async def test_a_relay_that_cannot_be_connected_to_is_tried_again() -> None:
    client = Client()
    async with FakeRelay(on_handshake=respond(503)) as relay, kept(relay, client):
        await relay.until(lambda: len(relay.attempts) == 4)
        relay.on_handshake = upgrade  # before the fourth asks for it
        async with asyncio.timeout(60):
            await client.connected.wait()
        gaps = [b - a for a, b in zip(relay.attempts, relay.attempts[1:], strict=False)]
    assert gaps == pytest.approx([0.5, 1, 2], abs=0.1)
    reason = "the relay answered HTTP 503 instead of a websocket upgrade"
    assert client.partings == [(reason, False)] * 3


@virtual_time
async def test_who_is_cancelled_leaves_no_socket_open() -> None:
    client = Client()
    async with FakeRelay() as relay:
        async with kept(relay, client):
            await client.connected.wait()
        assert client.connections[0].lost.done()
        await relay.until(lambda: relay.open_sockets == 0)
        assert client.partings == []


@virtual_time
async def test_a_fault_of_the_client_ends_it_and_its_connection() -> None:
    class Faulty(Client):
        async def use(self, connection: Connection) -> str:
            await super().use(connection)
            raise LookupError("a fault")

    client = Faulty(1)
    async with FakeRelay(on_open=nothing) as relay:
        with pytest.raises(LookupError, match="a fault"):
            await keep_connected(relay.url, client, lambda: 0.0)
        assert client.connections[0].lost.done()
