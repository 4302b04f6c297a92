"""What an event that a relay sent is to a board: a score, a deletion, or nothing; pure.

`looks_right` is cheap and comes first; `judge` checks the signature.
"""

from __future__ import annotations

import re
from typing import NamedTuple, cast

import orjson

from app.nostr import nip09
from app.nostr.event import InvalidEvent, parse_event, verify_event
from app.nostr.json_text import parse_outermost
from app.scores.score_event import APP_TAG, KIND
from app.scores.signed_score import Deletion, SignedScore, read_deletion
from app.verifier import Check, verify_with

_FIELDS = ("id", "pubkey", "created_at", "kind", "tags", "content", "sig")


class Candidate(NamedTuple):
    """An event that would count if its signature held."""

    event_id: str
    created_at: int
    d: str | None
    """What the score's address ends in; None for a deletion."""
    text: bytes
    """The event as this app would write it: compact, its seven fields in the order of NIP-01."""


class Unproved(NamedTuple):
    """An event that does not count: forged, or signed by the app and still not what its publisher writes."""

    forged: bool


Finding = SignedScore | Deletion | Unproved


# A score as this app writes it, and as most relays send it.
_USUAL = re.compile(
    rb'\{"id":"([0-9a-f]{64})","pubkey":"([0-9a-f]{64})","created_at":([0-9]{1,15}),"kind":31250,'
    rb'"tags":\[\["d","([^"\\]+)"\],\["app","briscola-score"\],\["username","[^"\\]+"\],'
    rb'\["score","[0-9]{1,3}"\]\],'
    rb'"content":"\{\\"v\\":1,\\"username\\":\\"[^"\\]+\\",\\"score\\":[0-9]{1,3}\}",'
    rb'"sig":"[0-9a-f]{128}"\}'
)


def looks_right(text: bytes, keys: frozenset[str]) -> Candidate | None:
    """All about an event that can be checked without its signature; None if it cannot count."""
    if usual := _USUAL.fullmatch(text):
        event_id, pubkey, created_at, d = usual.groups()
        name = _decoded(d)
        if name is None or pubkey.decode() not in keys:
            return None
        return Candidate(event_id.decode(), int(created_at), name, text)
    return _parsed(text, keys)


def _decoded(data: bytes) -> str | None:
    try:
        return data.decode()
    except UnicodeDecodeError:
        return None


def _parsed(text: bytes, keys: frozenset[str]) -> Candidate | None:
    try:
        fields = orjson.loads(text)
    except orjson.JSONDecodeError:
        return None
    if type(fields) is not dict:
        return None
    event_id, created_at, kind, tags = map(fields.get, ("id", "created_at", "kind", "tags"))
    if not (
        type(event_id) is str
        and len(event_id) == 64
        and type(created_at) is int
        and (kind == KIND or kind == nip09.KIND)
        and type(pubkey := fields.get("pubkey")) is str
        and pubkey in keys
        and type(tags) is list
    ):
        return None
    d = None
    if kind == KIND:
        values = {
            tag[0]: tag[1] for tag in tags if type(tag) is list and len(tag) == 2 and type(tag[0]) is str
        }
        d = values.get("d")
        if type(d) is not str or values.get("app") != APP_TAG:
            return None
    written = _written(text, fields)
    return None if written is None else Candidate(event_id, created_at, d, written)


def _written(text: bytes, fields: dict[str, object]) -> bytes | None:
    """The event as this app would write it; None if a key of it occurs twice, or it is no event at all.

    Blanks, line breaks and fields that the signature does not cover are not passed on.
    """
    try:
        written = orjson.dumps({name: fields[name] for name in _FIELDS if name in fields})
    except orjson.JSONEncodeError:
        return None  # it nests deeper than any event
    return written if parse_outermost(text)[1] is None else None


def judge(candidate: Candidate, keys: frozenset[str]) -> Finding:
    """Check an event's signature, and what it says."""
    return finding(candidate, proof(candidate.text, keys))


Proof = tuple[str, int] | tuple[list[str], list[str]] | bool
"""What another process has to tell: name and score, or names and ids deleted, or whether it is forged."""


def proof(text: bytes, keys: frozenset[str]) -> Proof:
    """Check the signature of an event that `looks_right`."""
    verdict = verify_with(text, keys)
    if verdict.ok:
        if verdict.consistent and verdict.username is not None and verdict.score is not None:
            return verdict.username, verdict.score
        return False
    if verdict.failed is not Check.KIND:
        return True
    try:
        event = parse_event(text)
    except InvalidEvent:
        return True
    deletion = read_deletion(event, keys) if verify_event(event) else None
    return True if deletion is None else (sorted(deletion.names), sorted(deletion.event_ids))


def finding(candidate: Candidate, proved: Proof) -> Finding:
    """What a candidate is, after its proof."""
    if isinstance(proved, bool):
        return Unproved(proved)
    event_id, created_at, _, text = candidate
    what, value = proved
    if isinstance(what, str) and isinstance(value, int):
        return SignedScore(what, value, created_at, event_id, text.decode())
    return Deletion(event_id, created_at, frozenset(what), frozenset(cast("list[str]", value)))
