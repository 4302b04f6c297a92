"""The two signed events that come before the deal: the service's commitment and the player's statement.

Both are of kind 78 (NIP-78: https://github.com/nostr-protocol/nips/blob/master/78.md), which no relay ever
replaces, with empty content and exactly these tags, in this order:

| event      | signed by  | tags                                                                          |
|------------|------------|-------------------------------------------------------------------------------|
| commitment | the app    | `d` match id, `commitment`, `variant`, `level`, `p` player, `username`        |
| statement  | the player | `d` match id, `e` id of the commitment event, `commitment`, `client-seed`     |

The service publishes its commitment; the statement names that event, so it is younger than it, whatever the
clocks say, and its signature covers level and name too. It is not published: the transcript holds it.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.matches.commitment import VARIANT
from app.matches.signed_event import event_fault
from app.nostr.event import Event, sign_event

if TYPE_CHECKING:
    from collections.abc import Collection

    from app.matches.commitment import Terms
    from app.nostr.keys import SecretKey

KIND = 78

Tags = tuple[tuple[str, str], ...]


def commitment_tags(terms: Terms, commitment: str) -> Tags:
    """The tags of the service's commitment."""
    return (
        ("d", terms.match),
        ("commitment", commitment),
        ("variant", VARIANT),
        ("level", terms.level),
        ("p", terms.player),
        ("username", terms.username),
    )


def statement_tags(terms: Terms, commitment_event: str, commitment: str, client_seed: bytes) -> Tags:
    """The tags of the player's statement; `commitment_event` is the id of the event that they answer to."""
    return (
        ("d", terms.match),
        ("e", commitment_event),
        ("commitment", commitment),
        ("client-seed", client_seed.hex()),
    )


def sign_commitment(secret: SecretKey, *, terms: Terms, commitment: str, created_at: int) -> Event:
    """The service's commitment as an event."""
    tags = commitment_tags(terms, commitment)
    return sign_event(secret, created_at=created_at, kind=KIND, tags=tags, content="")


def sign_statement(
    secret: SecretKey,
    *,
    terms: Terms,
    commitment_event: str,
    commitment: str,
    client_seed: bytes,
    created_at: int,
) -> Event:
    """The player's statement as an event."""
    tags = statement_tags(terms, commitment_event, commitment, client_seed)
    return sign_event(secret, created_at=created_at, kind=KIND, tags=tags, content="")


def commitment_fault(event: Event, *, terms: Terms, commitment: str, app_keys: Collection[str]) -> str | None:
    """Why `event` does not commit one of the app's keys to `commitment` on these terms; None if it does."""
    tags = commitment_tags(terms, commitment)
    return event_fault(event, "commitment event", kind=KIND, signers=app_keys, tags=tags)


def statement_fault(
    event: Event, *, terms: Terms, commitment_event: str, commitment: str, client_seed: bytes
) -> str | None:
    """Why `event` is not the player's word for this seed, given after that commitment; None if it is."""
    tags = statement_tags(terms, commitment_event, commitment, client_seed)
    return event_fault(event, "statement", kind=KIND, signers=(terms.player,), tags=tags)
