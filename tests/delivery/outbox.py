"""An outbox in memory, as a store would keep it, with faults on demand."""

from __future__ import annotations

import asyncio
import json
from dataclasses import dataclass, field
from hashlib import sha256
from typing import TYPE_CHECKING

from app.delivery.model import Delivery, DeliveryState, Outcome

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from app.nostr.event import Event

PUBKEY = "ab" * 32


def make_delivery(
    relay: str, number: int = 0, *, name: str | None = None, created_at: int = 1000
) -> Delivery:
    """A delivery of a made-up event: right in shape, wrong in signature."""
    name = name or f"player{number}"
    event_id = sha256(f"{name}:{number}:{created_at}".encode()).hexdigest()
    event = {
        "id": event_id,
        "pubkey": PUBKEY,
        "created_at": created_at,
        "kind": 31250,
        "tags": [["d", name], ["app", "briscola-score"], ["username", name], ["score", "72"]],
        "content": json.dumps({"v": 1, "username": name, "score": 72}),
        "sig": "cd" * 64,
    }
    return Delivery(event_id, relay, f"31250:{PUBKEY}:{name}", created_at, json.dumps(event))


@dataclass
class Row:
    """One delivery as stored."""

    delivery: Delivery
    state: DeliveryState = DeliveryState.PENDING
    message: str = ""
    due: float | None = 0.0
    held: bool = False
    history: list[Outcome] = field(default_factory=list)


class MemoryOutbox:
    """Keeps rows by (event id, relay); `until` awaits what becomes of them."""

    def __init__(self) -> None:
        self.rows: dict[tuple[str, str], Row] = {}
        self.records: list[int] = []
        self.claims = 0
        self.faults: list[Exception] = []
        self.newer: set[str] = set()
        self.adopted: list[tuple[str, Event]] = []
        self.notes: list[tuple[str, bool]] = []
        self._waiters: list[tuple[Callable[[], bool], asyncio.Future[None]]] = []

    def add(self, *deliveries: Delivery, held: bool = False) -> None:
        """Store deliveries; a newer event supersedes older pending ones at its address."""
        for delivery in deliveries:
            for row in self.rows.values():
                old = row.delivery
                if (old.relay, old.address) == (delivery.relay, delivery.address) and (
                    row.state is DeliveryState.PENDING and old.created_at < delivery.created_at
                ):
                    row.state, row.due, row.held = DeliveryState.SUPERSEDED, None, False
            self.rows[delivery.event_id, delivery.relay] = Row(delivery, held=held)

    def release(self) -> None:
        """Free what a process that is gone has held."""
        for row in self.rows.values():
            row.held = False

    def row(self, delivery: Delivery) -> Row:
        """The row of a delivery."""
        return self.rows[delivery.event_id, delivery.relay]

    def count(self, state: DeliveryState) -> int:
        """How many deliveries are in this state."""
        return sum(row.state is state for row in self.rows.values())

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until the condition on the rows holds."""
        if not condition():
            future = asyncio.get_running_loop().create_future()
            self._waiters.append((condition, future))
            await future

    async def until_state(self, delivery: Delivery, state: DeliveryState) -> Row:
        """Wait for a delivery to come to a state."""
        row = self.row(delivery)
        await self.until(lambda: row.state is state)
        return row

    async def claim(self, relay: str, *, now: float, limit: int) -> list[Delivery]:
        self._fault()
        self.claims += 1
        due = [
            row
            for row in self.rows.values()
            if row.delivery.relay == relay
            and row.state is DeliveryState.PENDING
            and not row.held
            and row.due is not None
            and row.due <= now
        ][:limit]
        for row in due:
            row.held = True
        return [row.delivery for row in due]

    async def record(self, outcomes: Sequence[Outcome]) -> None:
        self._fault()
        self.records.append(len(outcomes))
        for outcome in outcomes:
            assert (outcome.due is not None) is (outcome.state is DeliveryState.PENDING)
            row = self.rows[outcome.event_id, outcome.relay]
            row.history.append(outcome)
            row.held = False
            if row.state is DeliveryState.ACCEPTED or (
                row.state is DeliveryState.SUPERSEDED and outcome.state is DeliveryState.PENDING
            ):
                continue
            row.state, row.message, row.due = outcome.state, outcome.message, outcome.due
            attempts, since = outcome.attempts, outcome.failing_since
            row.delivery = row.delivery._replace(attempts=attempts, failing_since=since)
        for waiter in list(self._waiters):
            condition, future = waiter
            if condition():
                self._waiters.remove(waiter)
                future.set_result(None)

    async def adopt(self, relay: str, event: Event) -> bool:
        self._fault()
        self.adopted.append((relay, event))
        return True

    async def reached(self, relay: str, *, connected: bool) -> None:
        self._fault()
        self.notes.append((relay, connected))

    async def has_newer(self, event_id: str) -> bool:
        self._fault()
        return event_id in self.newer

    def _fault(self) -> None:
        if self.faults:
            raise self.faults.pop(0)
