"""Secret and public keys of NIP-01: secp256k1 with BIP-340 Schnorr signatures and x-only public keys."""

from __future__ import annotations

import os
import re
from functools import lru_cache
from typing import Any, Self

from coincurve import PrivateKey, PublicKeyXOnly
from coincurve._libsecp256k1 import ffi, lib
from coincurve.context import GLOBAL_CONTEXT

from app.nostr import nip19

# The x coordinate of the curve's generator: the public key of the secrets 1 and n - 1, which everybody knows.
GENERATOR_X = "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"

# The library's own methods for signatures are thin; at tens of thousands a second they still show.
_CONTEXT = GLOBAL_CONTEXT.ctx
_verify = lib.secp256k1_schnorrsig_verify

_ORDER = 0xFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFFEBAAEDCE6AF48A03BBFD25E8CD0364141
_HEX_KEY = re.compile(r"[0-9a-fA-F]{64}")
_KEPT_KEYS = 1024  # parsed public keys held ready: a parse costs about a tenth of a verification


class InvalidKey(ValueError):
    """A text is no key; the message says what is wrong and what to do, and never quotes the text."""


class SecretKey:
    """A secret key that signs but shows nothing of itself: not in repr, str, format, copies or pickles."""

    __slots__ = ("_key", "_keypair", "pubkey")

    pubkey: str
    """The x-only public key, 64 lower-case hex digits."""

    def __init__(self, secret: bytes) -> None:
        # The library pads short keys and makes up a key for None, so the length is checked first.
        if not isinstance(secret, bytes) or len(secret) != 32:
            raise InvalidKey("a secret key is 32 bytes long")
        if not 0 < int.from_bytes(secret) < _ORDER:
            raise InvalidKey("the secret key is zero or not below the curve order; make one with `keygen`")
        self._key = PrivateKey(secret)
        self._keypair = ffi.new("secp256k1_keypair *")
        lib.secp256k1_keypair_create(_CONTEXT, self._keypair, secret)
        self.pubkey = self._key.public_key_xonly.format().hex()

    @classmethod
    def parse(cls, text: str) -> Self:
        """Read 64 hex digits or an `nsec`.

        Raises:
            InvalidKey: anything else, zero, or a number that is not below the curve order.
        """
        return cls(_read_key(text, kind="secret", prefix=nip19.NSEC, mistaken=nip19.NPUB))

    @classmethod
    def generate(cls) -> Self:
        """A fresh key from the operating system's randomness."""
        return cls(PrivateKey().secret)

    @property
    def is_public_knowledge(self) -> bool:
        """Whether anyone can sign for this key: it is secret key 1 or n - 1."""
        return self.pubkey == GENERATOR_X

    def sign(self, digest: bytes) -> bytes:
        """BIP-340 signature (64 bytes) of a 32-byte digest: fresh randomness, checked before it leaves.

        Raises:
            ValueError: if the digest is not 32 bytes long, or the signature does not hold (a broken machine).
        """
        if len(digest) != 32:
            raise ValueError("a digest is 32 bytes long")
        # The library's own method makes the key pair anew for each signature, a quarter of the whole work.
        buffer = ffi.new("unsigned char[64]")
        made = lib.secp256k1_schnorrsig_sign32(_CONTEXT, buffer, digest, self._keypair, os.urandom(32))
        signature = bytes(ffi.buffer(buffer))
        if not made or not verify_signature(self.pubkey, digest, signature):
            raise ValueError("the signature does not hold: the machine computes wrongly")
        return signature

    def to_hex(self) -> str:
        """The secret itself as 64 hex digits: only for whoever asked to see it."""
        return self._key.secret.hex()

    def to_nsec(self) -> str:
        """The secret itself as an `nsec`: only for whoever asked to see it."""
        return nip19.encode(nip19.NSEC, self._key.secret)

    def __repr__(self) -> str:
        return f"SecretKey(pubkey={self.pubkey!r})"

    def __copy__(self) -> Self:
        return self

    def __deepcopy__(self, memo: object) -> Self:
        return self

    def __reduce__(self) -> tuple[object, ...]:
        raise TypeError("a secret key is not pickled")


def parse_pubkey(text: str) -> str:
    """Read 64 hex digits or an `npub` as an x-only public key on the curve.

    Returns:
        64 lower-case hex digits.

    Raises:
        InvalidKey: anything else.
    """
    pubkey = _read_key(text, kind="public", prefix=nip19.NPUB, mistaken=nip19.NSEC).hex()
    if x_only_key(pubkey) is None:
        raise InvalidKey("the public key is not a point of the curve; check that it was copied whole")
    return pubkey


@lru_cache(maxsize=_KEPT_KEYS)
def x_only_key(pubkey: str) -> Any:
    """The curve's point, as libsecp256k1 wants it, for 64 lower-case hex digits; None if there is none."""
    try:
        return PublicKeyXOnly(bytes.fromhex(pubkey)).public_key
    except ValueError:
        return None


def verify_signature(pubkey: str, digest: bytes, signature: bytes) -> bool:
    """Whether the 64-byte `signature` of `digest` is `pubkey`'s (64 lower-case hex digits), by BIP-340."""
    key = x_only_key(pubkey)
    # The lengths are checked here, because C reads as many bytes as it expects.
    if key is None or len(signature) != 64 or len(digest) != 32:
        return False
    return bool(_verify(_CONTEXT, signature, digest, 32, key))


def _read_key(text: str, *, kind: str, prefix: str, mistaken: str) -> bytes:
    """The 32 bytes of a key given as hex or bech32; `mistaken` is the prefix of the other kind of key."""
    if not isinstance(text, str) or not text:
        raise InvalidKey(f"the {kind} key is missing or empty; give 64 hex digits or an {prefix}")
    if _HEX_KEY.fullmatch(text):
        return bytes.fromhex(text)
    lower = text.lower()
    if lower.startswith(mistaken + "1"):
        raise InvalidKey(
            f"this is an {mistaken}, but a {kind} key is wanted; give 64 hex digits or an {prefix}"
        )
    if not lower.startswith(prefix + "1"):
        raise InvalidKey(
            f"the {kind} key is neither 64 hex digits nor an {prefix} (it is {len(text)} characters long)"
        )
    try:
        _, data = nip19.decode(text)
    except nip19.InvalidBech32 as error:
        raise InvalidKey(f"the {prefix} cannot be read: {error}; copy it again") from None
    if len(data) != 32:
        raise InvalidKey(f"the {prefix} holds {len(data)} bytes instead of 32; copy it again")
    return data
