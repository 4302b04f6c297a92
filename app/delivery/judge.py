"""What an event that a relay sent is to a board: a score, a deletion, or nothing; pure.

`looks_right` is cheap and comes first; whether the signature holds is asked last.
"""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from app.nostr import nip09
from app.nostr.event import InvalidEvent, event_id, parse_event
from app.nostr.signature import signature_record
from app.scores.consistency import (
    claimed_score,
    claimed_username,
    has_version,
    inconsistencies,
    read_content,
)
from app.scores.published import read_published
from app.scores.score_event import APP_TAG, KIND
from app.scores.signed_score import Deletion, SignedScore, read_deletion

if TYPE_CHECKING:
    from app.nostr.event import Event


class Candidate(NamedTuple):
    """An event that would count if its signature held."""

    event_id: str
    created_at: int
    d: str | None
    """What the score's address ends in; None for a deletion."""
    says: SignedScore | Deletion | None
    """What it is if the signature holds; None if that is not what a publisher writes."""
    record: bytes
    """The signature, for `app.nostr.signature.record_holds`."""


class Unproved(NamedTuple):
    """An event that does not count: forged, or signed by the app and still not what its publisher writes."""

    forged: bool


Finding = SignedScore | Deletion | Unproved

FORGED, NO_SCORE = Unproved(forged=True), Unproved(forged=False)


def looks_right(text: bytes, keys: frozenset[str]) -> Candidate | None:
    """All about an event that can be checked without its signature; None if it cannot count."""
    try:
        published = read_published(text.decode(), keys)
    except UnicodeDecodeError:
        return None
    if published is None:
        return _otherwise(text, keys)
    claimed, pubkey, created_at, d, username, score, written, digest, signature = published
    record = signature_record(pubkey, digest, signature)
    return Candidate(
        claimed, created_at, d, SignedScore(username, score, created_at, claimed, written), record
    )


def _otherwise(text: bytes, keys: frozenset[str]) -> Candidate | None:
    """The same of a deletion, or of a score that is spelt or written in another way."""
    try:
        event = parse_event(text)
        if event.pubkey not in keys or not (event.kind == nip09.KIND or _is_score(event)):
            return None
        if event_id(event.pubkey, event.created_at, event.kind, event.tags, event.content) != event.id:
            return None
    except InvalidEvent:
        return None
    d = None if event.kind == nip09.KIND else _identifier(event)
    says = read_deletion(event, keys) if d is None else _score(event)
    record = signature_record(event.pubkey, bytes.fromhex(event.id), bytes.fromhex(event.sig))
    return Candidate(event.id, event.created_at, d, says, record)


def _identifier(event: Event) -> str | None:
    return next((tag[1] for tag in event.tags if len(tag) > 1 and tag[0] == "d"), None)


def _is_score(event: Event) -> bool:
    """Whether it has what the address and the filters of scores are made of."""
    tagged = any(tag[:2] == ("app", APP_TAG) for tag in event.tags)
    return event.kind == KIND and tagged and _identifier(event) is not None


def _score(event: Event) -> SignedScore | None:
    """The score that an event tells, if it passes the check of its content and agrees with itself."""
    content = read_content(event.content)
    username, score = claimed_username(content), claimed_score(content)
    faulty = inconsistencies([list(tag) for tag in event.tags], content) or not has_version(content)
    if username is None or score is None or faulty:
        return None
    return SignedScore(username, score, event.created_at, event.id, event.to_json())


def finding(candidate: Candidate, holds: object) -> Finding:
    """What a candidate is, once it is known whether its signature holds."""
    return (candidate.says or NO_SCORE) if holds else FORGED
