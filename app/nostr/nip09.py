"""NIP-09: the event by which an author asks relays to delete what they published."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.nostr.event import Event, sign_event

if TYPE_CHECKING:
    from app.nostr.keys import SecretKey

KIND = 5


def deletion_event(secret: SecretKey, *, kind: int, d: str, created_at: int) -> Event:
    """The deletion of every version of the key's own address `kind:pubkey:d` up to `created_at`."""
    return sign_event(
        secret,
        created_at=created_at,
        kind=KIND,
        tags=[["a", f"{kind}:{secret.pubkey}:{d}"], ["k", str(kind)]],
        content="",
    )
