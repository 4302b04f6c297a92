"""Boards to read from without a relay: rows of made-up events."""

from __future__ import annotations

import json
from dataclasses import dataclass, field
from hashlib import sha256

from app.scores.leaderboard import Leaderboard
from app.scores.signed_score import Deletion, SignedScore

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

    async def ready(self) -> None:
        """It is."""

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
