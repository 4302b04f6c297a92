"""NIP-98: HTTP calls signed by a Nostr key, as `Authorization: Nostr <base64 of a kind 27235 event>`.

https://github.com/nostr-protocol/nips/blob/master/98.md
"""

from __future__ import annotations

import base64
import binascii
import hashlib
import secrets
from typing import TYPE_CHECKING

from app.nostr.event import Event, InvalidEvent, fault_of, parse_event, sign_event

if TYPE_CHECKING:
    from app.nostr.keys import SecretKey

KIND = 27235
SCHEME = "Nostr"
# Seconds by which a token may be older or newer than the clock, both ends included.
WINDOW = 60
# Characters of base64; an honest token has a quarter of that, and reading a dishonest one must cost little.
MAX_LENGTH = 4096


class InvalidToken(ValueError):
    """The token does not sign this call; the message says why and what to do."""


def payload_hash(body: bytes) -> str:
    """What the tag `payload` holds for these raw bytes: their SHA-256 as 64 lower-case hex digits."""
    return hashlib.sha256(body).hexdigest()


def sign_call(secret: SecretKey, *, method: str, url: str, body: bytes, created_at: int) -> str:
    """The token (what follows `Nostr `) that signs one call.

    A random `nonce` tag makes each token one of its own, so that two equal calls in one second are two.
    """
    tags = [["u", url], ["method", method], ["nonce", secrets.token_hex(16)]]
    if body:
        tags.append(["payload", payload_hash(body)])
    event = sign_event(secret, created_at=created_at, kind=KIND, tags=tags, content="")
    return base64.b64encode(event.to_json().encode()).decode()


def read_token(token: str) -> Event:
    """The event in a token, its id and signature checked before anything else is believed.

    Raises:
        InvalidToken: no standard base64, no event, or an event that nobody signed like this.
    """
    if len(token) > MAX_LENGTH:
        raise InvalidToken(f"the token has {len(token)} characters: at most {MAX_LENGTH} are read")
    if "-" in token or "_" in token:
        raise InvalidToken("the token is base64url: send standard base64, with + and /")
    try:
        text = base64.b64decode(token, validate=True)
    except (binascii.Error, ValueError):
        text = b""
    # The library lets some padding pass that is not there or too much.
    if base64.b64encode(text).decode() != token:
        raise InvalidToken("the token is not standard base64 with its padding")
    try:
        event = parse_event(text)
    except InvalidEvent as error:
        raise InvalidToken(f"the token holds no Nostr event: {error}") from None
    if fault := fault_of(event):
        raise InvalidToken(fault)
    return event


def check_call(event: Event, *, method: str, url: str, now: float) -> None:
    """Check that an event signs this call, all but its body.

    Args:
        event: as `read_token` gives it.
        url: the absolute address that the client called, with its query.
        now: wall clock, unix seconds.

    Raises:
        InvalidToken: the first rule that the event breaks.
    """
    if event.kind != KIND:
        raise InvalidToken(f"the event's kind is {event.kind}: sign one of kind {KIND}")
    age = int(now) - event.created_at
    if abs(age) > WINDOW:
        side = "old" if age > 0 else "ahead of the clock"
        raise InvalidToken(
            f"the event's created_at is {abs(age)} s {side}, and {WINDOW} s are allowed: "
            "sign a new one for each call, and check the clock"
        )
    if _only(event, "u") != url:
        raise InvalidToken(f"the tag u is not the address of this call: sign exactly {url}")
    if _only(event, "method") != method:
        raise InvalidToken(f"the tag method is not {method}, the method of this call")


def check_payload(event: Event, body: bytes) -> None:
    """Check that an event signs these raw bytes; only without a body may it leave the tag `payload` out.

    Raises:
        InvalidToken: otherwise.
    """
    if not body and not _values(event, "payload"):
        return
    if _only(event, "payload") != payload_hash(body):
        raise InvalidToken(
            "the tag payload is not the SHA-256 of the body: sign the hash of the raw bytes that are sent, "
            "as 64 lower-case hex digits"
        )


def _only(event: Event, name: str) -> str:
    """The value of the one tag of this name."""
    values = _values(event, name)
    if len(values) != 1:
        raise InvalidToken(
            f"the tag {name} occurs {len(values)} times: it must occur once"
            if values
            else f"the tag {name} is missing"
        )
    return values[0]


def _values(event: Event, name: str) -> list[str]:
    return [tag[1] if len(tag) > 1 else "" for tag in event.tags if tag[0] == name]
