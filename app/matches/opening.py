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
from app.nostr.event import Event, fault_of, sign_event

if TYPE_CHECKING:
    from collections.abc import Collection

    from app.matches.commitment import Terms
    from app.nostr.keys import SecretKey

KIND = 78

Tags = tuple[tuple[str, str], ...]


class InvalidOpening(ValueError):
    """An event that opens no match; the message says which part of it is wrong."""


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


def check_commitment(event: Event, *, terms: Terms, commitment: str, app_keys: Collection[str]) -> None:
    """Check that `event` commits one of the app's keys to `commitment` on these terms.

    Raises:
        InvalidOpening: it does not.
    """
    _check("commitment event", event, app_keys, "the app's", commitment_tags(terms, commitment))


def check_statement(
    event: Event, *, terms: Terms, commitment_event: str, commitment: str, client_seed: bytes
) -> None:
    """Check that `event` is the player's word for this client seed, given after that commitment.

    Raises:
        InvalidOpening: it is not.
    """
    tags = statement_tags(terms, commitment_event, commitment, client_seed)
    _check("statement", event, (terms.player,), "the player's", tags)


def _check(name: str, event: Event, signers: Collection[str], whose: str, tags: Tags) -> None:
    if event.kind != KIND:
        raise InvalidOpening(f"the {name} is of kind {event.kind}: it must be of kind {KIND}")
    if event.pubkey not in signers:
        raise InvalidOpening(f"the {name} is signed by {event.pubkey}, which is not {whose} key")
    if event.content:
        raise InvalidOpening(f"the {name} has content: it must be empty")
    if event.tags != tags:
        names = ", ".join(tag for tag, _ in tags)
        wrong = next((tag for tag, is_tag in zip(tags, event.tags, strict=False) if tag != is_tag), None)
        what = f"the tag {wrong[0]} is not {wrong[1]!a}" if wrong else "there are other tags or fewer"
        raise InvalidOpening(f"the {name} has other tags than {names} of this match: {what}")
    if fault := fault_of(event):
        raise InvalidOpening(f"the {name} is not signed: {fault}")
