"""What a relay's answer, or its silence, makes of a delivery; pure.

| answer                                                       | the delivery becomes                        |
|--------------------------------------------------------------|---------------------------------------------|
| OK true; `duplicate:`                                        | accepted                                    |
| `replaced:`                                                  | conflict, unless the store holds a newer    |
|                                                              | event for the address: then superseded      |
| `rate-limited:` `error:`, no answer, connection lost         | pending, the same bytes again after backoff |
|                                                              | failed once that has gone on for seven days |
| `invalid:` while `created_at` is ahead of the clock          | pending until that time has come            |
| `pow:` `blocked:` `invalid:` `restricted:` `mute:` `deleted:`|                                             |
| `rejected:`, `auth-required:` after NIP-42, any other words  | rejected                                    |
"""

from app.delivery.backoff import Random, delay
from app.delivery.model import GIVE_UP_SECONDS, Delivery, DeliveryState, Outcome
from app.nostr.event import Event
from app.nostr.message import split_prefix

MESSAGE_LIMIT = 200
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
    prefix, _ = split_prefix(message)
    if accepted or prefix == "duplicate":
        return _settled(delivery, DeliveryState.ACCEPTED, message)
    if prefix == "replaced":
        return _settled(delivery, DeliveryState.CONFLICT, message)
    if prefix in RETRY_PREFIXES:
        return unanswered(delivery, message, now=now, random=random)._replace(answered=True)
    if prefix == "invalid" and delivery.created_at > now:
        waiting = _settled(delivery, DeliveryState.PENDING, message)
        return waiting._replace(due=float(delivery.created_at))
    return _settled(delivery, DeliveryState.REJECTED, message)


def unanswered(delivery: Delivery, reason: str, *, now: float, random: Random) -> Outcome:
    """The outcome of a failed attempt: pending until after backoff, or failed after seven days of it."""
    attempts = delivery.attempts + 1
    since = now if delivery.failing_since is None else delivery.failing_since
    if now - since >= GIVE_UP_SECONDS:
        state, due = DeliveryState.FAILED, None
        reason = f"given up after {GIVE_UP_SECONDS // 86_400} days: {reason}"
    else:
        state, due = DeliveryState.PENDING, now + delay(attempts, random)
    return Outcome(
        delivery.event_id, delivery.relay, state, one_line(reason), attempts, due, failing_since=since
    )


def superseded(delivery: Delivery, message: str) -> Outcome:
    """The outcome of `replaced:` where the store holds the newer event."""
    return _settled(delivery, DeliveryState.SUPERSEDED, message)


def in_conflict(delivery: Delivery, message: str, newest: Event | None) -> Outcome:
    """The outcome of `replaced:` by what this store did not know, or the relay does not show."""
    if newest is None:
        words = f"{message} (and it shows no newer event)"
    else:
        words = (
            f"superseded there by {newest.id}, signed by this app's key and unknown here; it said: {message}"
        )
    return _settled(delivery, DeliveryState.CONFLICT, words)


def unsent(delivery: Delivery, reason: str, *, due: float) -> Outcome:
    """The outcome of giving a delivery back untried."""
    state, since = DeliveryState.PENDING, delivery.failing_since
    line = one_line(reason)
    return Outcome(
        delivery.event_id, delivery.relay, state, line, delivery.attempts, due, failing_since=since
    )


def overtaken(delivery: Delivery) -> Outcome:
    """The outcome of holding a newer event for the same address before this one was sent."""
    state, reason = DeliveryState.SUPERSEDED, "a newer event took its place before it was sent"
    return Outcome(delivery.event_id, delivery.relay, state, reason, delivery.attempts, None)


def _settled(delivery: Delivery, state: DeliveryState, message: str) -> Outcome:
    """The outcome of the relay's own words, which no further attempt follows."""
    attempts = delivery.attempts + 1
    return Outcome(delivery.event_id, delivery.relay, state, one_line(message), attempts, None, answered=True)
