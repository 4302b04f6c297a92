"""NIP-09: the event by which an author asks relays to delete what they published."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING, NamedTuple

from app.nostr.event import Event, sign_event

if TYPE_CHECKING:
    from app.nostr.keys import SecretKey

KIND = 5

_ADDRESS = re.compile(r"(\d{1,5}):([0-9a-f]{64}):(.*)", re.ASCII | re.DOTALL)


class Address(NamedTuple):
    """What an `a` tag names: `kind:pubkey:d` (NIP-01, addressable events)."""

    kind: int
    pubkey: str
    d: str


def targets(event: Event) -> tuple[frozenset[Address], frozenset[str]]:
    """The addresses (`a`) and event ids (`e`) that a deletion names; malformed tags name nothing."""
    found = [_ADDRESS.fullmatch(tag[1]) for tag in event.tags if len(tag) > 1 and tag[0] == "a"]
    addresses = frozenset(Address(int(one[1]), one[2], one[3]) for one in found if one)
    return addresses, frozenset(tag[1] for tag in event.tags if len(tag) > 1 and tag[0] == "e")


def deletion_event(secret: SecretKey, *, kind: int, d: str, created_at: int) -> Event:
    """The deletion of every version of the key's own address `kind:pubkey:d` up to `created_at`."""
    return sign_event(
        secret,
        created_at=created_at,
        kind=KIND,
        tags=[["a", f"{kind}:{secret.pubkey}:{d}"], ["k", str(kind)]],
        content="",
    )
