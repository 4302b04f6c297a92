"""NIP-98 tokens made without the code under test: json, hashlib and the library's key alone."""

from __future__ import annotations

import base64
import hashlib
import json
from typing import Any

from coincurve import PrivateKey

# Secrets of players in tests; their public keys follow.
ALICE, BOB = bytes(31) + b"\x03", bytes(31) + b"\x05"


def pubkey_of(secret: bytes) -> str:
    return PrivateKey(secret).public_key_xonly.format().hex()


def sha256(body: bytes) -> str:
    return hashlib.sha256(body).hexdigest()


def call_tags(method: str, url: str, body: bytes = b"") -> list[list[str]]:
    """The tags that NIP-98 asks for."""
    return [["u", url], ["method", method], *([["payload", sha256(body)]] if body else [])]


def signed(
    tags: list[list[str]], created_at: int, *, secret: bytes = ALICE, kind: int = 27235, content: str = ""
) -> dict[str, Any]:
    """An event, signed."""
    fields: list[Any] = [pubkey_of(secret), created_at, kind, tags, content]
    text = json.dumps([0, *fields], separators=(",", ":"), ensure_ascii=False)
    digest = hashlib.sha256(text.encode()).digest()
    names = ("pubkey", "created_at", "kind", "tags", "content")
    return {
        "id": digest.hex(),
        **dict(zip(names, fields, strict=True)),
        "sig": PrivateKey(secret).sign_schnorr(digest).hex(),
    }


def encoded(event: dict[str, Any]) -> str:
    """What follows `Nostr ` in the header."""
    return base64.b64encode(json.dumps(event).encode()).decode()


def token(method: str, url: str, body: bytes, created_at: int, *, secret: bytes = ALICE) -> str:
    """A token as an honest client makes it."""
    return encoded(signed(call_tags(method, url, body), created_at, secret=secret))
