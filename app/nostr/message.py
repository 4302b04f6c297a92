"""NIP-01 wire messages and NIP-42 AUTH: JSON text <-> values.

https://github.com/nostr-protocol/nips/blob/master/01.md
https://github.com/nostr-protocol/nips/blob/master/42.md
"""

import re
from collections.abc import Mapping
from dataclasses import dataclass
from typing import NamedTuple

import orjson


class Ok(NamedTuple):
    """`["OK", <event id>, <true|false>, <message>]`: the relay's answer to one EVENT or AUTH.

    A named tuple, since there is one for each delivery.
    """

    event_id: str
    accepted: bool
    message: str


@dataclass(frozen=True, slots=True)
class EventMessage:
    """`["EVENT", <subscription>, <event>]`: a stored or new event; the event is not checked here."""

    subscription: str
    event: dict[str, object]


@dataclass(frozen=True, slots=True)
class Eose:
    """`["EOSE", <subscription>]`: everything stored has been sent."""

    subscription: str


@dataclass(frozen=True, slots=True)
class Closed:
    """`["CLOSED", <subscription>, <message>]`: the relay ended or refused a subscription."""

    subscription: str
    message: str


@dataclass(frozen=True, slots=True)
class Notice:
    """`["NOTICE", <message>]`: text for people; it says nothing about any event."""

    message: str


@dataclass(frozen=True, slots=True)
class AuthChallenge:
    """`["AUTH", <challenge>]`: NIP-42; the newest challenge replaces all before it."""

    challenge: str


@dataclass(frozen=True, slots=True)
class NotAMessage:
    """A frame that is none of the above, and why."""

    reason: str


RelayMessage = Ok | EventMessage | Eose | Closed | Notice | AuthChallenge

_PREFIX = re.compile(r"([a-z][a-z-]*): ?")


def event_message(event: str) -> str:
    """The EVENT message for an event given as JSON text, which goes out unchanged."""
    return f'["EVENT",{event}]'


def auth_message(event: str) -> str:
    """The AUTH message for a signed kind 22242 event given as JSON text."""
    return f'["AUTH",{event}]'


def req_message(subscription: str, *filters: Mapping[str, object]) -> str:
    """The REQ message that opens a subscription on any of the filters."""
    return orjson.dumps(["REQ", subscription, *filters]).decode()


def close_message(subscription: str) -> str:
    """The CLOSE message that ends a subscription."""
    return orjson.dumps(["CLOSE", subscription]).decode()


def parse_relay_message(frame: str | bytes | bytearray) -> RelayMessage | NotAMessage:
    """Read one message from a relay; never raises.

    Strict: every message has exactly its own elements with exactly their own types, so an OK whose verdict is
    the text `"true"` or that lacks its message is no OK.
    """
    try:
        parts = orjson.loads(frame)
    except orjson.JSONDecodeError:
        return NotAMessage("no JSON text")
    if type(parts) is not list:
        return NotAMessage("no JSON array")
    if len(parts) == 4 and parts[0] == "OK":  # the common case, at a fifth of what a pattern costs
        _, event_id, accepted, message = parts
        if type(event_id) is str and type(accepted) is bool and type(message) is str:
            return Ok(event_id, accepted, message)
    match parts:
        case ["EVENT", str(subscription), dict(event)]:
            return EventMessage(subscription, event)
        case ["EOSE", str(subscription)]:
            return Eose(subscription)
        case ["CLOSED", str(subscription), str(reason)]:
            return Closed(subscription, reason)
        case ["NOTICE", str(text)]:
            return Notice(text)
        case ["AUTH", str(challenge)]:
            return AuthChallenge(challenge)
        case [("OK" | "EVENT" | "EOSE" | "CLOSED" | "NOTICE" | "AUTH") as name, *_]:
            return NotAMessage(f"malformed {name}")
        case _:
            return NotAMessage("unknown message")


def split_prefix(message: str) -> tuple[str, str]:
    """Split the machine-readable prefix from an OK's or CLOSED's message.

    Returns:
        `("duplicate", "already have it")` for `duplicate: already have it`; `("", message)` without a prefix.
    """
    found = _PREFIX.match(message)
    return (found[1], message[found.end() :]) if found else ("", message)
