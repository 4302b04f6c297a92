"""A signature with all that is needed to check it, as bytes that go between processes by the thousand."""

from __future__ import annotations

from app.nostr.keys import verify_signature

RECORD_BYTES = 128
"""Public key (32), signed digest (32), signature (64)."""


def signature_record(pubkey: str, digest: bytes, signature: bytes) -> bytes:
    """The record of a 64-byte signature of a 32-byte digest by `pubkey` (64 hex digits)."""
    return bytes.fromhex(pubkey) + digest + signature


def record_holds(record: bytes) -> bool:
    """Whether the signature is the public key's, by BIP-340."""
    return verify_signature(record[:32].hex(), record[32:64], record[64:])
