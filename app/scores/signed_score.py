"""What a board is made of: score events whose signature holds, and the deletions that cover them (NIP-09)."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from app.nostr import nip09
from app.scores.score_event import KIND, identifier

if TYPE_CHECKING:
    from app.nostr.event import Event


class SignedScore(NamedTuple):
    """A verified and consistent score; a named tuple, since they go between processes by the ten thousand."""

    username: str
    score: int
    created_at: int
    """Unix seconds."""
    event_id: str
    event: str
    """The whole event as JSON text, keys in the order of NIP-01 and no others."""

    @property
    def d(self) -> str:
        """The lower-cased username: what the score's address ends in, whichever key signed it."""
        return identifier(self.username)


class Deletion(NamedTuple):
    """A verified deletion by one of the app's keys."""

    event_id: str
    created_at: int
    """Unix seconds; versions up to this second are covered."""
    names: frozenset[str]
    """The `d` of each score address it names."""
    event_ids: frozenset[str]
    """The single events it names."""


def read_deletion(event: Event, keys: frozenset[str]) -> Deletion | None:
    """What a verified event deletes among the scores of these keys; None if it is no deletion by one of them.

    The app's keys speak for each other: after a rotation the new one deletes what the old one signed.
    """
    if event.kind != nip09.KIND or event.pubkey not in keys:
        return None
    addresses, event_ids = nip09.targets(event)
    names = frozenset(d for kind, pubkey, d in addresses if kind == KIND and pubkey in keys)
    return Deletion(event.id, event.created_at, names, event_ids)
