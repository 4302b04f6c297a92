"""A score as a Nostr event: the one place that knows the kind, the tags and the content of seed 000."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson

from app.nostr.event import Event, sign_shaped
from app.nostr.keys import GENERATOR_X
from app.nostr.nip09 import deletion_event

if TYPE_CHECKING:
    from app.nostr.keys import SecretKey

KIND = 31250
VERSION = 1
APP_TAG = "briscola-score"
TAG_NAMES = ("d", "app", "username", "score")
MAX_SCORE = 120
DEFAULT_RELAY = "wss://nostr.relay.hedwig.sh"
SEED_PUBKEY = GENERATOR_X  # the app key that seed 000 prints; its secret is 1, so anyone can sign for it


def identifier(username: str) -> str:
    """The `d` tag of a player's scores: the lower-cased username, so one latest score per player."""
    return username.lower()


def address(pubkey: str, username: str) -> str:
    """The address (NIP-01, addressable events) under which relays keep a player's latest score."""
    return f"{KIND}:{pubkey}:{identifier(username)}"


def score_template(username: str, score: int) -> tuple[list[list[str]], str]:
    """Tags and content of a score event."""
    tags = [["d", identifier(username)], ["app", APP_TAG], ["username", username], ["score", str(score)]]
    return tags, orjson.dumps({"v": VERSION, "username": username, "score": score}).decode()


def sign_score(secret: SecretKey, *, username: str, score: int, created_at: int) -> Event:
    """Sign a score; username and score are the caller's to check."""
    tags, content = score_template(username, score)
    shaped = tuple(map(tuple, tags))
    return sign_shaped(secret, created_at=created_at, kind=KIND, tags=shaped, content=content)


def sign_deletion(secret: SecretKey, *, d: str, created_at: int) -> Event:
    """Sign the deletion of every score up to `created_at` at the key's address for `d`."""
    return deletion_event(secret, kind=KIND, d=d, created_at=created_at)
