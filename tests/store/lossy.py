"""A proxy before a PostgreSQL that loses a connection at the moment when it is told to commit."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager, suppress
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, Literal
from urllib.parse import urlsplit, urlunsplit

if TYPE_CHECKING:
    from collections.abc import AsyncIterator


@dataclass
class LossyProxy:
    """Passes everything on until a COMMIT comes while it shall lose one.

    Attributes:
        url: the database behind it.
        lose: `question`: the next COMMIT never reaches the server; `answer`: it does, and its answer is lost;
            afterwards everything is passed on again. `everything`: nobody comes through.
    """

    url: str
    lose: Literal["nothing", "question", "answer", "everything"] = "nothing"
    handlers: set[asyncio.Task[Any]] = field(default_factory=set)

    async def connected(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        """Serve one connection, until either side ends it."""
        if handler := asyncio.current_task():
            self.handlers.add(handler)
        upstream = urlsplit(self.url)
        server_reader, server_writer = await asyncio.open_connection(upstream.hostname, upstream.port)
        ways = [
            asyncio.create_task(self._ask(reader, server_writer)),
            asyncio.create_task(self._answer(server_reader, writer)),
        ]
        if self.lose != "everything":
            await asyncio.wait(ways, return_when=asyncio.FIRST_COMPLETED)
        for way in ways:
            way.cancel()
        await asyncio.wait(ways)
        for each in (server_writer, writer):
            each.close()
            with suppress(ConnectionError):
                await each.wait_closed()

    async def _ask(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(65536):
                if self.lose == "question" and b"COMMIT\0" in data:
                    self.lose = "nothing"
                    break
                writer.write(data)

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        with suppress(ConnectionError):
            while data := await reader.read(65536):
                if self.lose == "answer" and b"COMMIT\0" in data:  # the server has committed
                    self.lose = "nothing"
                    break
                writer.write(data)


@asynccontextmanager
async def lossy(url: str) -> AsyncIterator[tuple[LossyProxy, str]]:
    """A proxy before a database, and the database's address through it."""
    proxy = LossyProxy(url)
    listening = await asyncio.start_server(proxy.connected, "127.0.0.1", 0)
    port = listening.sockets[0].getsockname()[1]
    parts = urlsplit(url)
    try:
        yield proxy, urlunsplit(parts._replace(netloc=f"{parts.username}@127.0.0.1:{port}"))
    finally:
        listening.close()
        await asyncio.gather(*proxy.handlers)
