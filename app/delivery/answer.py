"""What a relay's answer, or its silence, makes of a delivery; pure.

| answer                                                       | the delivery becomes                        |
|--------------------------------------------------------------|---------------------------------------------|
| OK true; `duplicate:`                                        | accepted                                    |
| `replaced:`                                                  | conflict, unless the store holds a newer    |
|                                                              | event for the address: then superseded      |
| `rate-limited:` `error:`, no answer, connection lost         | pending, the same bytes again after backoff |
| `invalid:` while `created_at` is ahead of the clock          | pending until that time has come            |
| `pow:` `blocked:` `invalid:` `restricted:` `mute:` `deleted:`|                                             |
| `rejected:`, `auth-required:` after NIP-42, any other words  | rejected                                    |
"""

from app.delivery.backoff import Random, delay
from app.delivery.model import Delivery, DeliveryState, Outcome
from app.nostr.message import split_prefix

MESSAGE_LIMIT = 200
AHEAD_SECONDS = 900
"""How far `created_at` may be ahead of the clock when an event is sent to a relay whose limit is unknown."""

RETRY_PREFIXES = frozenset({"rate-limited", "error"})


def one_line(text: str) -> str:
    """The text as one bounded line without control, bidirectional or invisible characters."""
    if len(text) > MESSAGE_LIMIT:
        text = text[: MESSAGE_LIMIT - 1] + "…"
    if text.isprintable():
        return text
    return "".join(
        c if c.isprintable() else " " if c.isspace() else "\N{REPLACEMENT CHARACTER}" for c in text
    )


def answered(delivery: Delivery, accepted: bool, message: str, *, now: float, random: Random) -> Outcome:
    """The outcome of an OK for this delivery at `now` (unix seconds); see the table above."""
    state, due = _verdict(delivery, accepted, message, now, random)
    attempts = delivery.attempts + 1
    return Outcome(delivery.event_id, delivery.relay, state, one_line(message), attempts, due, answered=True)


def unanswered(delivery: Delivery, reason: str, *, now: float, random: Random) -> Outcome:
    """The outcome of sending without getting an answer: pending, tried again after backoff."""
    attempts = delivery.attempts + 1
    due = now + delay(attempts, random)
    return Outcome(delivery.event_id, delivery.relay, DeliveryState.PENDING, one_line(reason), attempts, due)


def unsent(delivery: Delivery, reason: str, *, due: float) -> Outcome:
    """The outcome of giving a delivery back untried."""
    state = DeliveryState.PENDING
    return Outcome(delivery.event_id, delivery.relay, state, one_line(reason), delivery.attempts, due)


def overtaken(delivery: Delivery) -> Outcome:
    """The outcome of holding a newer event for the same address before this one was sent."""
    state, reason = DeliveryState.SUPERSEDED, "a newer event took its place before it was sent"
    return Outcome(delivery.event_id, delivery.relay, state, reason, delivery.attempts, None)


def sendable_at(delivery: Delivery) -> int:
    """Unix seconds from which relays may be expected to take the event's `created_at`."""
    return delivery.created_at - AHEAD_SECONDS


def _verdict(
    delivery: Delivery, accepted: bool, message: str, now: float, random: Random
) -> tuple[DeliveryState, float | None]:
    if accepted:
        return DeliveryState.ACCEPTED, None
    prefix, _ = split_prefix(message)
    if prefix == "duplicate":
        return DeliveryState.ACCEPTED, None
    if prefix == "replaced":
        return DeliveryState.CONFLICT, None
    if prefix in RETRY_PREFIXES:
        return DeliveryState.PENDING, now + delay(delivery.attempts + 1, random)
    if prefix == "invalid" and delivery.created_at > now:
        return DeliveryState.PENDING, float(delivery.created_at)
    return DeliveryState.REJECTED, None
