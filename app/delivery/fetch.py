"""Reading stored events from one relay, once, page by page."""

import asyncio
from collections.abc import Mapping, Sequence
from contextlib import suppress
from typing import NamedTuple

from app.delivery.connection import Connection, connect
from app.delivery.flood import Flood
from app.delivery.read_session import ReadSession, Received, as_received


class Fetched(NamedTuple):
    """What a relay sent."""

    events: list[Received]
    """In the relay's order, each once for each filter, unchecked."""
    reason: str
    """Why these may not be all, bounded and on one line; empty if they are."""

    @property
    def complete(self) -> bool:
        """Whether the relay sent all it has."""
        return not self.reason


async def fetch(
    relay: str,
    filters: Sequence[Mapping[str, object]],
    *,
    timeout: float,  # noqa: ASYNC109 - the caller's own deadline, named in the reason
    limit: int,
) -> Fetched:
    """The stored events that match any of the filters, which have no `limit` of their own.

    Over one connection the filters are read in turn, each in as many pages as the relay's cap makes of it and
    up to `limit` events.

    Raises:
        ConnectError: No connection came about.
    """
    session = ReadSession(filters, as_received, limit=limit)
    fetching = _Fetching(session)
    try:
        async with asyncio.timeout(timeout):
            connection = await connect(relay, fetching)
            try:
                await fetching.run(connection)
            finally:
                connection.close()
                await connection.lost
    except TimeoutError:
        session.give_up(f"no end of the stored events within {timeout:g} s")
    else:
        session.give_up(connection.lost.result())
    return Fetched(fetching.events, session.reason)


class _Fetching:
    """One session over one connection."""

    def __init__(self, session: ReadSession[Received]) -> None:
        self.events: list[Received] = []
        self._session = session
        self._connection: Connection | None = None
        self._flood = Flood()
        self._loop = asyncio.get_running_loop()
        self._wake = asyncio.Event()

    async def run(self, connection: Connection) -> None:
        """Read until everything has come, or no more will."""
        self._connection = connection
        connection.lost.add_done_callback(lambda _: self._wake.set())
        self._session.open(self._loop.time())
        self._pump()
        while self._session.reading and not connection.lost.done():
            self._wake.clear()
            if not self._session.expire(self._loop.time()):
                with suppress(TimeoutError):
                    async with asyncio.timeout_at(self._session.deadline):
                        await self._wake.wait()

    def received(self, messages: list[bytes]) -> None:
        """Take what the relay sent."""
        now = self._loop.time()
        events = self._session.receive(messages, now).stored
        self.events += events
        useless = sum(map(len, messages)) - sum(len(event.text) for event in events)
        rest = self._flood.rest(len(messages) - len(events), useless, now)
        if rest and self._connection is not None:
            self._connection.throttle(rest)
        self._pump()
        self._wake.set()

    def writable(self) -> None:
        """What there is to write is short."""

    def _pump(self) -> None:
        if self._connection is not None:
            self._connection.send(self._session.outgoing)
            self._session.outgoing.clear()
