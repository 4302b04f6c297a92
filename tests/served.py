"""A service on a real loopback socket, alone or behind a reverse proxy that serves it under a path."""

from __future__ import annotations

import asyncio
import re
from contextlib import asynccontextmanager, contextmanager
from typing import TYPE_CHECKING

import uvicorn

from app.web.server import listen, url_of

if TYPE_CHECKING:
    import socket
    from collections.abc import AsyncIterator, Iterator

    from starlette.applications import Starlette

    from app.main import Service
    from app.web.live_board import LiveBoard


class _Server(uvicorn.Server):
    def __init__(self, app: Starlette) -> None:
        super().__init__(uvicorn.Config(app, log_config=None, lifespan="off", ws="none"))
        self.ready = asyncio.Event()

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        await super().startup(sockets)
        self.ready.set()

    @contextmanager
    def capture_signals(self) -> Iterator[None]:
        yield


@asynccontextmanager
async def served(
    service: Service, public_url: str = "", board: LiveBoard | None = None
) -> AsyncIterator[str]:
    """Serve; gives the address of the socket, which is also the public address unless one is given."""
    listening = listen("127.0.0.1", 0)
    url = url_of(listening)
    server = _Server(service.app(public_url or url, board))
    serving = asyncio.create_task(server.serve(sockets=[listening]))
    await server.ready.wait()
    try:
        yield url
    finally:
        server.should_exit = True
        await serving


@asynccontextmanager
async def served_under(service: Service, path: str) -> AsyncIterator[str]:
    """Serve behind a proxy that strips `path`; gives the public address, which ends with it."""
    proxy = _Proxy(path)
    listening = await asyncio.start_server(proxy.forward, "127.0.0.1", 0)
    public_url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}{path}"
    async with listening, served(service, public_url) as proxy.upstream:
        yield public_url


class _Proxy:
    """Forwards one request of each connection."""

    def __init__(self, path: str) -> None:
        self.path = path
        self.upstream = ""

    async def forward(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        method, target, rest = head.split(" ", 2)
        assert target.startswith(self.path + "/")
        length = re.search(r"^content-length: (\d+)", rest, re.IGNORECASE | re.MULTILINE)
        body = await reader.readexactly(int(length[1]) if length else 0)
        rest = rest.replace("\r\n", "\r\nConnection: close\r\nX-Forwarded-Host: elsewhere.example\r\n", 1)
        back, forth = await asyncio.open_connection("127.0.0.1", int(self.upstream.rpartition(":")[2]))
        forth.write(f"{method} {target.removeprefix(self.path)} {rest}".encode("latin-1") + body)
        writer.write(await back.read())
        await writer.drain()
        forth.close()
        writer.close()
