"""The board that a process keeps while it serves: read from relays, rendered, and told to who listens."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import orjson

from app.delivery.reader import Reader
from app.scores.proofs import Proofs
from app.scores.selection import Selection
from app.web.board import BoardView, readings_document
from app.web.board_windows import EVERY_ROW
from app.web.channel import Channel
from app.web.proving import Proving

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Collection, Iterable

    from app.delivery.relay_reader import ReaderRelay
    from app.scores.proofs import Wanted
    from app.web.proving import ProofFinder

GATHER_SECONDS = 0.1
"""Changes that come so close together are told in one event."""


class LiveBoard:
    """A board that goes on being read.

    Attributes:
        view: renders parts of it.
        proofs: of its rows.
        proving: looks for them.
    """

    def __init__(self, reader: Reader, clock: Callable[[], float], finder: ProofFinder | None = None) -> None:
        """Follow an open reader; `clock` gives unix seconds, `finder` finds what proves its rows."""
        self.proofs = Proofs()
        self.view = BoardView(reader, clock, self.proofs)
        self.proving = Proving(reader.board, self.proofs, finder, self._tell, clock)
        self._reader = reader
        self._read_once = asyncio.Event()
        self._told = readings_document(reader)
        self._channels = {EVERY_ROW: Channel(self.view, reader.board, EVERY_ROW, lambda names: names)}
        self._closed = False

    @property
    def relays(self) -> tuple[ReaderRelay, ...]:
        """How far each relay has been read."""
        return self._reader.relays

    async def ready(self) -> None:
        """Wait for the first reading of the relays, which ends by its deadline."""
        await self._read_once.wait()

    async def read_once(self) -> None:
        """Have those who wait go on once the relays have been read, or the time for that is over."""
        await self._reader.ready()
        self._read_once.set()

    async def follow(self) -> None:
        """Tell what changes, until cancelled."""
        self.proving.ask(row.d for row in self._reader.board.rows())
        async for change in self._reader.changes():
            self._tell(change.names)
            self.proving.ask(change.names)
            await asyncio.sleep(GATHER_SECONDS)

    def channel(self, wanted: Wanted) -> Channel:
        """What tells of the changes of the wanted rows; made when somebody first asks for it."""
        channel = self._channels.get(wanted)
        if channel is None:
            selection = Selection(self._reader.board, self.proofs, wanted)
            channel = self._channels[wanted] = Channel(self.view, selection, wanted, selection.update)
            if self._closed:
                channel.hub.stop()
        return channel

    def close(self) -> None:
        """End the streams, and wait no longer for the relays."""
        self._closed = True
        self._read_once.set()
        for channel in self._channels.values():
            channel.hub.stop()

    def _tell(self, names: Collection[str]) -> None:
        readings = readings_document(self._reader)
        turned = readings != self._told
        self._told = readings
        for channel in self._channels.values():
            if turned:
                channel.hub.send("relays", orjson.dumps(readings))
            channel.tell(names)


@asynccontextmanager
async def open_board(
    relays: Iterable[str],
    keys: Collection[str],
    clock: Callable[[], float],
    finder: ProofFinder | None = None,
) -> AsyncIterator[LiveBoard]:
    """Read the scores of these public keys (hex) from relays, until the context ends.

    Args:
        finder: finds what proves the rows; without it none is proved.
    """
    async with Reader(relays, keys, clock=clock) as reader:
        board = LiveBoard(reader, clock, finder)
        runs = (board.read_once(), board.follow(), board.proving.run())
        tasks = [asyncio.create_task(run) for run in runs]
        try:
            yield board
        finally:
            board.close()
            for task in tasks:
                task.cancel()
            await asyncio.wait(tasks)
