"""The words of delivery: what is to be delivered, what became of it, and the store behind both."""

from collections.abc import Sequence
from enum import StrEnum
from typing import NamedTuple, Protocol

from app.nostr.event import Event

GIVE_UP_SECONDS = 7 * 24 * 3600
"""What has failed for so long is no longer tried, until somebody asks for it."""


class DeliveryState(StrEnum):
    """What has become of one event at one relay."""

    PENDING = "pending"
    ACCEPTED = "accepted"
    REJECTED = "rejected"
    SUPERSEDED = "superseded"
    CONFLICT = "conflict"
    FAILED = "failed"


class Delivery(NamedTuple):
    """One signed event on its way to one relay; a named tuple, as they are made by the ten thousand.

    Attributes:
        event_id: The event's id, 64 lower-case hex digits.
        relay: The relay's normalised URL.
        address: `kind:pubkey:d` (NIP-01), what a newer event replaces.
        created_at: The event's own time, unix seconds.
        payload: The event's JSON text; every attempt sends exactly this.
        attempts: How often it was sent without a final answer.
        failing_since: Unix seconds of the first of these attempts; None if there was none.
    """

    event_id: str
    relay: str
    address: str
    created_at: int
    payload: str
    attempts: int = 0
    failing_since: float | None = None


class Outcome(NamedTuple):
    """What one attempt came to.

    Attributes:
        event_id: The event.
        relay: The relay.
        state: The delivery's state from now on.
        message: The relay's words, or ours, bounded and on one line.
        attempts: The new count of attempts.
        due: Unix seconds before which it is not tried again; set if and only if the state is pending.
        answered: Whether the relay itself answered for this event, whatever it said.
        failing_since: Unix seconds since which every attempt has failed; None if the last one did not.
    """

    event_id: str
    relay: str
    state: DeliveryState
    message: str
    attempts: int
    due: float | None
    answered: bool = False
    failing_since: float | None = None


class Outbox(Protocol):
    """Durable deliveries; the engine keeps nothing that is not in here.

    Every method may raise (disk full, database locked): the engine then tries again with backoff.
    """

    async def claim(self, relay: str, *, now: float, limit: int) -> list[Delivery]:
        """Take up to `limit` pending deliveries due by `now` that no live process holds, oldest first.

        They are held by this process until an outcome is recorded.
        """
        ...

    async def record(self, outcomes: Sequence[Outcome]) -> None:
        """Make the outcomes durable before returning; the same outcomes may come again after an error.

        A pending outcome gives the delivery back until its due time. A superseded delivery never becomes
        pending again, and accepted always wins: a late OK may concern a delivery that was given back.
        """
        ...

    async def has_newer(self, event_id: str) -> bool:
        """Whether a newer event than this one is stored at its address."""
        ...

    async def adopt(self, relay: str, event: Event) -> bool:
        """Store an event of this app's key that the relay holds and this store did not know.

        Its address goes on from there. Whether it was taken: one far ahead would block its address.
        """
        ...

    async def reached(self, relay: str, *, connected: bool) -> None:
        """Take note that a connection to the relay came about, or failed."""
        ...
