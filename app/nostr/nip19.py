"""NIP-19 bare keys: `npub` and `nsec` texts, which are bech32 (BIP-173) around 32 bytes."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

NPUB = "npub"
NSEC = "nsec"

_CHARSET = "qpzry9x8gf2tvdw0s3jn54khce6mua7l"
_VALUE = {character: value for value, character in enumerate(_CHARSET)}
_GENERATORS = (0x3B6A57B2, 0x26508E6D, 0x1EA119FA, 0x3D4233DD, 0x2A1462B3)
_CHECKSUM_LENGTH = 6
_MAX_LENGTH = 90  # BIP-173; longer NIP-19 texts (nprofile, nevent, ...) are not read here


class InvalidBech32(ValueError):
    """The text is not bech32; the message says why and never quotes the text, which may be a secret."""


def encode(prefix: str, data: bytes) -> str:
    """Bech32 text of `data` under a lower-case `prefix`, such as `npub`."""
    values = _regroup(data, 8, 5, pad=True)
    checksum = _polymod([*_expand(prefix), *values, *[0] * _CHECKSUM_LENGTH]) ^ 1
    tail = [checksum >> 5 * (_CHECKSUM_LENGTH - 1 - place) & 31 for place in range(_CHECKSUM_LENGTH)]
    return prefix + "1" + "".join(_CHARSET[value] for value in (*values, *tail))


def decode(text: str) -> tuple[str, bytes]:
    """Prefix (lower case) and bytes of a bech32 text.

    Raises:
        InvalidBech32: wrong length, mixed case, unknown character, bad checksum or bad padding.
    """
    if len(text) > _MAX_LENGTH:
        raise InvalidBech32(f"it is {len(text)} characters long, and bech32 ends at {_MAX_LENGTH}")
    if not all("!" <= character <= "~" for character in text):
        raise InvalidBech32("it holds a space or a character outside printable ASCII")
    if text != text.lower() and text != text.upper():
        raise InvalidBech32("it mixes upper and lower case")
    prefix, separator, body = text.lower().rpartition("1")
    if not separator or not prefix:
        raise InvalidBech32("it has no prefix before a '1'")
    if len(body) < _CHECKSUM_LENGTH:
        raise InvalidBech32("it is too short to hold a checksum")
    if not _VALUE.keys() >= set(body):
        raise InvalidBech32("it holds a character that bech32 does not use")
    values = [_VALUE[character] for character in body]
    if _polymod([*_expand(prefix), *values]) != 1:
        raise InvalidBech32("its checksum is wrong: a character was lost or changed")
    return prefix, bytes(_regroup(values[:-_CHECKSUM_LENGTH], 5, 8, pad=False))


def _expand(prefix: str) -> list[int]:
    return [ord(c) >> 5 for c in prefix] + [0] + [ord(c) & 31 for c in prefix]


def _polymod(values: Iterable[int]) -> int:
    """The BCH checksum of BIP-173."""
    checksum = 1
    for value in values:
        top = checksum >> 25
        checksum = (checksum & 0x1FFFFFF) << 5 ^ value
        for bit, generator in enumerate(_GENERATORS):
            if top >> bit & 1:
                checksum ^= generator
    return checksum


def _regroup(values: Iterable[int], width: int, new_width: int, *, pad: bool) -> list[int]:
    """Cut a stream of `width`-bit numbers into `new_width`-bit ones; without `pad` the rest must be zero."""
    buffer = bits = 0
    out: list[int] = []
    for value in values:
        buffer = buffer << width | value
        bits += width
        while bits >= new_width:
            bits -= new_width
            out.append(buffer >> bits)
            buffer &= (1 << bits) - 1
    if pad and bits:
        out.append(buffer << new_width - bits)
    elif not pad and (bits >= width or buffer):
        raise InvalidBech32("its last character carries stray bits")
    return out
