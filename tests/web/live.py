"""An application behind a real listening socket, in this event loop."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.web.connection import Bounds, Guard
from app.web.server import Server, listen, url_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from starlette.types import ASGIApp

    from app.web.origin import Origins


@dataclass
class Live:
    """A server that listens."""

    url: str
    server: Server

    async def connect(self) -> tuple[asyncio.StreamReader, asyncio.StreamWriter]:
        """A raw connection to it."""
        host, _, port = self.url.removeprefix("http://").rpartition(":")
        return await asyncio.open_connection(host, int(port))

    async def exchange(self, *sent: bytes) -> bytes:
        """What comes back until the server closes the connection."""
        reader, writer = await self.connect()
        try:
            for data in sent:
                writer.write(data)
                await writer.drain()
            return await reader.read()
        finally:
            writer.close()


@asynccontextmanager
async def live(
    make_app: Callable[[str], ASGIApp],
    bounds: Bounds | None = None,
    origins: Origins | None = None,
    port: int = 0,
) -> AsyncIterator[Live]:
    """Serve the application that `make_app` makes for its address, until the block ends; port 0 is any."""
    listening = listen("127.0.0.1", port)
    url = url_of(listening)
    started = asyncio.Event()
    guard = Guard(url, origins, bounds)
    server = Server(make_app(url), listening, started=started.set, stopping=lambda: None, guard=guard)
    task = asyncio.create_task(server.run_until_signal())
    await started.wait()
    try:
        yield Live(url, server)
    finally:
        server.stop()
        await task
