"""The live reader: a board kept by reading several relays at once, none of which is trusted."""

from __future__ import annotations

import asyncio
import logging
import random
import time
from contextlib import contextmanager, suppress
from typing import TYPE_CHECKING, NamedTuple, Self

from app.delivery.forever import forever
from app.delivery.judge import Candidate, Finding, Unproved
from app.delivery.judging import Judging
from app.delivery.relay_reader import ReaderRelay, RelayReader
from app.nostr.relay_url import normalise_relay_url
from app.scores.leaderboard import Leaderboard
from app.verifier import AppKeys, app_keys

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Collection, Iterable, Iterator
    from types import TracebackType

    from app.delivery.backoff import Random

READY_SECONDS = 5.0
ADVANCE_SECONDS = 60.0
"""The clock is looked at so often while events wait for their time: somebody may set it."""

logger = logging.getLogger(__name__)


class Change(NamedTuple):
    """What is new since the last change that was heard of."""

    version: int
    """The board's version now."""
    names: frozenset[str]
    """The lower-cased names whose rows came, went or changed; empty if only a relay's state did."""


class Reader:
    """Reads the scores of an app from relays into a board, while its context is entered.

    ```
    async with Reader(["wss://relay.example"], app_key) as reader:
        await reader.ready()
        print(reader.board.ranking.page(10), reader.complete)
        async for change in reader.changes():
            ...
    ```

    Only what passes the five checks and agrees with itself gets onto the board. A relay that lies, stalls or
    floods costs the others nothing; how each one stands is in `relays`.

    Attributes:
        board: The board as it stands; to be read on the event loop, between two awaits it does not change.
        turns: Grows whenever how a relay stands changes, but for its counts.
    """

    def __init__(
        self,
        relays: Iterable[str],
        app_pubkey: AppKeys,
        *,
        clock: Callable[[], float] = time.time,
        rng: Random = random.random,
    ) -> None:
        """Read from these relay URLs the scores signed by these keys (hex or npub).

        Args:
            relays: One connection is made to each.
            app_pubkey: One key or several; each name's newest score across them stands.
            clock: Unix seconds.
            rng: Floats in [0, 1), for jitter.

        Raises:
            ValueError: A URL or a key is none, or there is no key.
        """
        self.board = Leaderboard()
        self.turns = 0
        self._urls = tuple(dict.fromkeys(normalise_relay_url(relay) for relay in relays))
        self._keys = app_keys(app_pubkey)
        self._clock = clock
        self._random = rng
        self._readers: list[RelayReader] = []
        self._tasks: list[asyncio.Task[None]] = []
        self._listeners: set[_Listener] = set()
        self._early = asyncio.Event()

    async def __aenter__(self) -> Self:
        judging = Judging(self._matters, self._found)
        self._readers = [
            RelayReader(url, self._keys, judging, self._turned, random=self._random) for url in self._urls
        ]
        runs = [judging.run, self._advance, *(reader.run for reader in self._readers)]
        self._tasks = [asyncio.create_task(forever(run, "reading", logger)) for run in runs]
        return self

    async def __aexit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        for task in self._tasks:
            task.cancel()
        await asyncio.gather(*self._tasks, return_exceptions=True)

    @property
    def relays(self) -> tuple[ReaderRelay, ...]:
        """How reading each relay stands."""
        return tuple(reader.status() for reader in self._readers)

    @property
    def complete(self) -> bool:
        """Whether the board has all that every relay stores, and follows every one of them."""
        return all(relay.complete for relay in self.relays)

    async def ready(self, timeout: float = READY_SECONDS) -> bool:  # noqa: ASYNC109 - a deadline, not a fault
        """Wait until each relay has been read or has failed, `timeout` seconds at most; returns `complete`.

        Whatever has come by then is on the board.
        """
        with suppress(TimeoutError), self._listening() as listener:
            async with asyncio.timeout(timeout):
                while not all(reader.settled for reader in self._readers):
                    await listener.next()
        return self.complete

    async def changes(self) -> AsyncIterator[Change]:
        """Every change from now on; those that come while the caller is busy are joined into one."""
        with self._listening() as listener:
            while True:
                names = await listener.next()
                yield Change(self.board.version, names)

    @contextmanager
    def _listening(self) -> Iterator[_Listener]:
        listener = _Listener()
        self._listeners.add(listener)
        try:
            yield listener
        finally:
            self._listeners.discard(listener)

    def _matters(self, candidate: Candidate) -> bool:
        event_id, created_at, d, _, _ = candidate
        if d is None:
            return not self.board.knows_deletion(event_id)
        return self.board.would_change(d, created_at, event_id)

    def _found(self, findings: Iterable[Finding]) -> None:
        now, names = self._clock(), set[str]()
        for finding in findings:
            if not isinstance(finding, Unproved):
                names |= self.board.add(finding, now)
        if names:
            self._tell(names)
        if self.board.early:
            self._early.set()

    def _turned(self) -> None:
        self.turns += 1
        self._tell(())

    def _tell(self, names: Collection[str]) -> None:
        for listener in self._listeners:
            listener.hear(names)

    async def _advance(self) -> None:
        """Let in events that were ahead of the clock when their time has come."""
        while True:
            self._early.clear()
            if names := self.board.advance(self._clock()):
                self._tell(names)
            due = self.board.next_early
            wait = None if due is None else min(max(due - self._clock(), 1.0), ADVANCE_SECONDS)
            with suppress(TimeoutError):
                async with asyncio.timeout(wait):
                    await self._early.wait()


class _Listener:
    """Joins what is heard until it is asked for."""

    def __init__(self) -> None:
        self._names: set[str] = set()
        self._heard = asyncio.Event()

    def hear(self, names: Iterable[str]) -> None:
        self._names.update(names)
        self._heard.set()

    async def next(self) -> frozenset[str]:
        await self._heard.wait()
        self._heard.clear()
        names = frozenset(self._names)
        self._names.clear()
        return names
