"""One relay's reader: one connection, kept up, out of which come candidates to be judged."""

from __future__ import annotations

import asyncio
from contextlib import suppress
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any

from app.delivery.flood import Flood
from app.delivery.judge import Candidate, Finding, Unproved, looks_right
from app.delivery.read_session import ReadSession
from app.delivery.reconnect import keep_connected
from app.nostr import nip09
from app.scores.score_event import KIND

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.delivery.backoff import Random
    from app.delivery.connection import Connection
    from app.delivery.judging import Judging

EVENT_LIMIT = 1_000_000
"""No more stored events are read from one relay."""

WAITING_LIMIT = 10_000
"""With so many events waiting to be judged nothing more is read for a moment."""

REST_SECONDS = 0.02

FORGED_LIMIT = 1000
"""A relay is left alone for a while after so many events whose signature does not hold."""


class ReaderState(StrEnum):
    """How far reading one relay has come."""

    CONNECTING = "connecting"
    READING = "reading"
    LIVE = "live"
    FAILED = "failed"


@dataclass(frozen=True, slots=True)
class ReaderRelay:
    """How reading one relay stands.

    Attributes:
        url: The relay.
        state: It is `reading` what is stored, then `live`; after `failed` it is tried again by itself.
        reason: Why it failed, or why it is not complete; bounded and on one line.
        complete: Whether everything it stores has come and whatever is new comes too.
        events: Events of the app's that it sent, copies included, since the reader was started.
        ignored: Messages that meant nothing, forged events among them, since the reader was started.
    """

    url: str
    state: ReaderState
    reason: str
    complete: bool
    events: int
    ignored: int


class RelayReader:
    """Reads one relay until cancelled.

    Attributes:
        settled: Whether it has been read once, or has failed once.
    """

    def __init__(
        self,
        url: str,
        keys: frozenset[str],
        judging: Judging,
        turned: Callable[[], None],
        *,
        random: Random,
    ) -> None:
        """Offer to `judging` what may be scores or deletions by these keys; `turned` hears of new states."""
        self.url = url
        self._keys = keys
        self._judging = judging
        self._turned = turned
        self._random = random
        self._loop = asyncio.get_running_loop()
        self.settled = False
        self._state = ReaderState.CONNECTING
        self._reason = ""
        self._events = self._ignored = self._forged = 0
        self._pending = 0  # candidates that are not judged yet
        self._flood = Flood()
        self._connection: Connection | None = None
        self._session: ReadSession[Candidate] | None = None
        self._wake = asyncio.Event()

    def status(self) -> ReaderRelay:
        """How it stands."""
        complete = self._state is ReaderState.LIVE and not self._reason
        return ReaderRelay(self.url, self._state, self._reason, complete, self._events, self._ignored)

    async def run(self) -> None:
        """Keep one connection to the relay, and read, until cancelled."""
        await keep_connected(self.url, self, self._random)

    # for the connection

    async def use(self, connection: Connection) -> str:
        """Read from an open connection until it is lost; returns why that is."""
        wanted: dict[str, Any] = {"kinds": [KIND, nip09.KIND], "authors": sorted(self._keys)}
        # After a break, too, all of it: during it an event of any age may have reached the relay.
        session = self._session = ReadSession([wanted], self._read, limit=EVENT_LIMIT, live=wanted)
        self._connection = connection
        self._forged = 0
        self._turn(ReaderState.READING, "")
        session.open(self._loop.time())
        self._pump()
        connection.lost.add_done_callback(lambda _: self._wake.set())
        try:
            while not connection.lost.done():
                self._wake.clear()
                if session.expire(self._loop.time()):
                    return session.reason
                if session.refused:
                    return session.refused
                if not self.trusted:
                    return f"it sent {FORGED_LIMIT} forged events, or more"
                if self._state is ReaderState.READING and not session.reading and not self._pending:
                    self._turn(ReaderState.LIVE, session.reason)
                await self._sleep(session)
            return connection.lost.result()
        finally:
            self._connection = self._session = None

    async def parted(self, reason: str, *, connected: bool) -> None:
        """Say why nothing is read for a while."""
        self._turn(ReaderState.FAILED, reason)

    def received(self, messages: list[bytes]) -> None:
        """Take what the relay sent."""
        connection, session = self._connection, self._session
        if connection is None or session is None:
            return
        now = self._loop.time()
        stored, live = session.receive(messages, now)
        news = [candidate for candidate in live if self._judging.is_news(candidate)]
        candidates = [*stored, *news]
        self._events += len(stored) + len(live)
        self._ignored += len(messages) - len(stored) - len(live)
        if candidates:
            self._pending += len(candidates)
            self._judging.offer(self, candidates)
        rest = 0.0
        if useless := len(messages) - len(candidates):
            share = useless / len(messages)  # of their bytes, too: a flood is mostly useless
            rest = self._flood.rest(useless, sum(map(len, messages)) * share, now)
        if len(self._judging) > WAITING_LIMIT:
            rest = max(rest, REST_SECONDS)
        if rest:
            connection.throttle(rest)
        self._pump()
        self._wake.set()

    def writable(self) -> None:
        """What there is to write is short."""

    # for whoever judges

    @property
    def trusted(self) -> bool:
        """Whether its events are still worth a look."""
        return self._forged < FORGED_LIMIT

    def judged(self, finding: Finding | None) -> None:
        """One of its candidates is done with."""
        self._pending -= 1
        if isinstance(finding, Unproved):
            self._events -= 1
            self._ignored += 1
            self._forged += finding.forged
            self._wake.set()
        if self._pending == 0:
            self._wake.set()

    # inside

    def _read(self, text: bytes) -> Candidate | None:
        return looks_right(text, self._keys)

    async def _sleep(self, session: ReadSession[Candidate]) -> None:
        """Until something came, or the page that is being read is overdue."""
        with suppress(TimeoutError):
            async with asyncio.timeout_at(session.deadline):
                await self._wake.wait()

    def _pump(self) -> None:
        if self._connection is not None and self._session is not None and self._session.outgoing:
            self._connection.send(self._session.outgoing)
            self._session.outgoing.clear()

    def _turn(self, state: ReaderState, reason: str) -> None:
        self._state, self._reason = state, reason
        self.settled |= state in (ReaderState.LIVE, ReaderState.FAILED)
        self._turned()
