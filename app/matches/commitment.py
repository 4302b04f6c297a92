"""What a match is dealt from, so that neither side can steer the deal.

The service commits to its seed before it knows the player's, and the deck follows from both. Every hash is a
SHA-256 over fields, each written as its length in bytes (2 bytes, big-endian) and then itself, so that no two
lists of fields are written alike:

| value      | fields                                                                                       |
|------------|----------------------------------------------------------------------------------------------|
| commitment | `briscola/1/commit`, match id, player, level, server seed, salt                              |
| deck seed  | `briscola/1/deck`, match id, server seed, client seed                                        |
| play seed  | `briscola/1/play`, match id, server seed, client seed                                        |

Labels, the match id (32 lower-case hex digits), the player (a public key, 64 lower-case hex digits) and the
level are ASCII text; seeds and salt are 32 raw bytes. `app/briscola/shuffle.py` makes the deck of its seed.
"""

from __future__ import annotations

import re
import secrets
from dataclasses import dataclass, field
from hashlib import sha256
from typing import Self

from app.briscola.computer import LEVELS
from app.briscola.errors import shown
from app.briscola.shuffle import SEED_BYTES
from app.briscola.two_player import TwoPlayer

VARIANT = TwoPlayer.variant
"""The one variant that is played against the computer for a proved score."""

_MATCH_ID = re.compile(r"[0-9a-f]{32}")
_PLAYER = re.compile(r"[0-9a-f]{64}")


class InvalidTerms(ValueError):
    """No match can be played on these terms; the message says which and why."""


@dataclass(frozen=True, slots=True)
class Terms:
    """What is settled before anything is dealt.

    Attributes:
        match: the match id, 32 lower-case hex digits.
        player: the public key that signs for the player, 64 lower-case hex digits. Whoever signs in
            otherwise makes a key for it, so that a transcript never shows an account.
        username: the name that the score is published under.
        level: the computer's, one of `LEVELS`.

    Raises:
        InvalidTerms: match, player or level is none, or the name is empty.
    """

    match: str
    player: str
    username: str
    level: str

    def __post_init__(self) -> None:
        if not _MATCH_ID.fullmatch(self.match):
            raise InvalidTerms(f"the match id {shown(self.match)} is not 32 lower-case hex digits")
        if not _PLAYER.fullmatch(self.player):
            raise InvalidTerms(f"the player {shown(self.player)} is not 64 lower-case hex digits")
        if not self.username:
            raise InvalidTerms("the username is empty")
        if self.level not in LEVELS:
            raise InvalidTerms(f"no level {shown(self.level)}: there are {', '.join(LEVELS)}")


@dataclass(frozen=True, slots=True)
class Secrets:
    """What the service keeps to itself until the match is over; no text of it shows them.

    Raises:
        ValueError: one of them is not 32 bytes long.
    """

    server_seed: bytes = field(repr=False)
    salt: bytes = field(repr=False)

    def __post_init__(self) -> None:
        check_seed("server seed", self.server_seed)
        check_seed("salt", self.salt)

    @classmethod
    def generate(cls) -> Self:
        """Fresh ones from the operating system's randomness."""
        return cls(secrets.token_bytes(SEED_BYTES), secrets.token_bytes(SEED_BYTES))


def new_match_id() -> str:
    """A fresh match id."""
    return secrets.token_hex(16)


def commitment(terms: Terms, hidden: Secrets) -> str:
    """What the service publishes before it knows the player's seed: 64 lower-case hex digits."""
    texts = (terms.match, terms.player, terms.level)
    fields = (text.encode() for text in texts)
    return _digest(b"briscola/1/commit", *fields, hidden.server_seed, hidden.salt).hex()


def deck_seed(match: str, server_seed: bytes, client_seed: bytes) -> bytes:
    """The 32 bytes that the deck is shuffled from.

    Raises:
        ValueError: a seed is not 32 bytes long.
    """
    return _of_both(b"briscola/1/deck", match, server_seed, client_seed)


def play_seed(match: str, server_seed: bytes, client_seed: bytes) -> bytes:
    """The 32 bytes behind everything random in the computer's play; raises like `deck_seed`."""
    return _of_both(b"briscola/1/play", match, server_seed, client_seed)


def check_seed(name: str, seed: bytes) -> bytes:
    """Return `seed` if it is 32 bytes long.

    Raises:
        ValueError: otherwise; the message calls it `name` and does not show it.
    """
    if len(seed) != SEED_BYTES:
        raise ValueError(f"the {name} has {len(seed)} bytes: give {SEED_BYTES}")
    return seed


def _of_both(label: bytes, match: str, server_seed: bytes, client_seed: bytes) -> bytes:
    check_seed("server seed", server_seed)
    check_seed("client seed", client_seed)
    return _digest(label, match.encode(), server_seed, client_seed)


def _digest(*fields: bytes) -> bytes:
    return sha256(b"".join(len(field).to_bytes(2, "big") + field for field in fields)).digest()
