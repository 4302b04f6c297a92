"""Serving the application with uvicorn until a signal comes."""

from __future__ import annotations

import asyncio
import gc
import signal
import socket
from contextlib import contextmanager
from functools import partial
from typing import TYPE_CHECKING, cast

import uvicorn

from app.web.connection import Connection, Guard

if TYPE_CHECKING:
    from collections.abc import Callable, Generator
    from types import FrameType

    from starlette.types import ASGIApp

_STOP_SECONDS = 2
_SWEEP_TICKS = 5
_YOUNG_OBJECTS = 10_000


class Server(uvicorn.Server):
    """One application on one listening socket.

    Args:
        started: called once requests are answered.
        stopping: called when a signal comes; requests that wait for something should now be answered.
        guard: what holds the connections within bounds.
    """

    def __init__(
        self,
        app: ASGIApp,
        listening: socket.socket,
        *,
        started: Callable[[], None],
        stopping: Callable[[], None],
        guard: Guard | None = None,
    ) -> None:
        self._guard = guard or Guard(url_of(listening))
        super().__init__(
            uvicorn.Config(
                app,
                http=cast("type[asyncio.Protocol]", partial(Connection, self._guard)),
                timeout_keep_alive=self._guard.bounds.idle_seconds,
                log_config=None,
                access_log=False,
                server_header=False,
                proxy_headers=False,
                lifespan="off",
                ws="none",
                timeout_graceful_shutdown=_STOP_SECONDS,
            )
        )
        self._listening = listening
        self._started = started
        self._stopping = stopping

    async def run_until_signal(self) -> None:
        """Answer requests until SIGINT, SIGTERM or `stop`, then finish those under way in a few seconds."""
        await self.serve(sockets=[self._listening])

    def stop(self) -> None:
        """Stop as a signal would."""
        self.handle_exit(signal.SIGTERM, None)

    def handle_exit(self, sig: int, frame: FrameType | None) -> None:
        """Take no more requests; a second SIGINT waits for nobody."""
        self._stopping()
        super().handle_exit(sig, frame)

    async def startup(self, sockets: list[socket.socket] | None = None) -> None:
        """uvicorn's start-up, and then a word to whoever waits for it."""
        await super().startup(sockets)
        # What exists now stays: the collector need not walk it again with every few thousand requests. They
        # leave next to no cycles, yet to look for them at Python's 700 objects took a tenth of the time.
        gc.collect()
        gc.freeze()
        gc.set_threshold(_YOUNG_OBJECTS)
        self._started()

    async def on_tick(self, counter: int) -> bool:
        """uvicorn's ten ticks a second; some of them cut clients that are too slow."""
        if counter % _SWEEP_TICKS == 0:
            now = asyncio.get_running_loop().time()
            for connection in list(self.server_state.connections):
                assert isinstance(connection, Connection)  # noqa: S101 - the Config makes no others
                connection.sweep(now)
            self._guard.report(now)
        return await super().on_tick(counter)

    @contextmanager
    def capture_signals(self) -> Generator[None, None, None]:
        """uvicorn would raise the signal again after serving, before store and relays are closed."""
        loop = asyncio.get_running_loop()
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.add_signal_handler(number, self.handle_exit, number, None)
        yield
        for number in (signal.SIGINT, signal.SIGTERM):
            loop.remove_signal_handler(number)


def listen(host: str, port: int) -> socket.socket:
    """A listening socket; port 0 takes any free one.

    Raises:
        OSError: if the address cannot be had.
    """
    family = socket.AF_INET6 if ":" in host else socket.AF_INET
    return socket.create_server((host, port), family=family, backlog=2048)


def url_of(listening: socket.socket) -> str:
    """The HTTP address of a listening socket."""
    host, port = listening.getsockname()[:2]
    return f"http://[{host}]:{port}" if ":" in host else f"http://{host}:{port}"
