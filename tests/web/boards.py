"""Boards to read from without a relay: rows of made-up events."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING

from app.delivery.reader import Change
from app.scores.leaderboard import Leaderboard
from app.scores.signed_score import Deletion, SignedScore
from app.web.live_board import LiveBoard
from tests.clock import Clock

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

NOW = 1_800_000_000
RELAY = "wss://relay.example"


@dataclass(frozen=True)
class Relay:
    """How far a relay has been read."""

    url: str = RELAY
    state: str = "live"
    reason: str = ""
    complete: bool = True


@dataclass
class Source:
    """A board that a test fills."""

    board: Leaderboard = field(default_factory=Leaderboard)
    relays: tuple[Relay, ...] = (Relay(),)
    complete: bool = True
    turns: int = 0

    told: asyncio.Queue[Change] = field(default_factory=asyncio.Queue)
    may_be_ready: asyncio.Event = field(default_factory=asyncio.Event)

    async def ready(self) -> bool:
        """Wait until the test says so."""
        await self.may_be_ready.wait()
        return self.complete

    async def changes(self) -> AsyncIterator[Change]:
        """What the test tells."""
        while True:
            yield await self.told.get()

    def tell(self, *names: str) -> None:
        """Say that rows have changed, or a relay's state if there are no names."""
        self.told.put_nowait(Change(self.board.version, frozenset(names)))

    def add(self, username: str, score: int, created_at: int = NOW, number: int | None = None) -> SignedScore:
        """Put a score on the board; its id is `number` in hex."""
        row = signed(username, score, created_at, number)
        self.board.add(row, NOW)
        return row

    def delete(self, username: str, created_at: int = NOW) -> None:
        """Take a name's row off the board."""
        self.board.add(Deletion("d" * 64, created_at, frozenset({username.lower()}), frozenset()), NOW)


def signed(username: str, score: int, created_at: int = NOW, number: int | None = None) -> SignedScore:
    """A row whose event has the shape of one, and no signature."""
    made = sha256(repr((username, score, created_at)).encode()).hexdigest()
    event_id = made if number is None else f"{number:064x}"
    event = {
        "id": event_id,
        "pubkey": "a" * 64,
        "created_at": created_at,
        "kind": 31250,
        "tags": [["d", username.lower()]],
        "content": "",
        "sig": "b" * 128,
    }
    return SignedScore(username, score, created_at, event_id, json.dumps(event, separators=(",", ":")))


def board_of(source: Source) -> LiveBoard:
    """A board that has been read once."""
    board = LiveBoard(source, Clock(NOW))  # type: ignore[arg-type]
    board._read_once.set()
    return board
