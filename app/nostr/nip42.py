"""NIP-42: the event by which a client authenticates to a relay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.nostr.event import Event, sign_event

if TYPE_CHECKING:
    from app.nostr.keys import SecretKey

KIND = 22242


def auth_event(secret: SecretKey, *, relay: str, challenge: str, created_at: int) -> Event:
    """The answer to a relay's challenge, for that relay alone."""
    return sign_event(
        secret,
        created_at=created_at,
        kind=KIND,
        tags=[["relay", relay], ["challenge", challenge]],
        content="",
    )
