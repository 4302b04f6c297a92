from __future__ import annotations

import copy
import csv
import dataclasses
import pickle
import traceback
from typing import Any

import pytest

from app.nostr import nip19
from app.nostr.keys import InvalidKey, SecretKey, parse_pubkey, verify_signature, x_only_key
from tests.vectors import HERE

BIP340 = list(csv.DictReader((HERE / "bip340.csv").read_text(encoding="ascii").splitlines()))
ORDER = "fffffffffffffffffffffffffffffffebaaedce6af48a03bbfd25e8cd0364141"
GENERATOR = "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"
# NIP-19's own examples.
NPUB_HEX = "7e7e9c42a91bfef19fa929e5fda1b72e0ebc1a4c1141673e2794234d86addf4e"
NPUB = "npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg"
NSEC_HEX = "67dea2ed018072d675f5415ecfaed7d2597555e202d85b3d65ea4e58d2d92ffa"
NSEC = "nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5"

NO_SECRETS = {
    "empty": ("", "empty"),
    "short hex": ("ab", "neither"),
    "63 digits": ("1" * 63, "neither"),
    "65 digits": ("1" * 65, "neither"),
    "zero": ("0" * 64, "zero"),
    "the order": (ORDER, "order"),
    "above the order": ("f" * 64, "order"),
    "no hex": ("g" * 64, "neither"),
    "full-width digits": ("１" * 64, "neither"),
    "new line": ("1" * 64 + "\n", "neither"),
    "0x": ("0x" + "1" * 64, "neither"),
    "npub": (NPUB, "npub"),
    "checksum": (NSEC[:-1] + "4", "checksum"),
    "swapped": (NSEC[:20] + NSEC[21] + NSEC[20] + NSEC[22:], "checksum"),
    "mixed case": (NSEC.replace("vl029", "VL029"), "upper and lower"),
    "nsec of 31 bytes": (nip19.encode("nsec", bytes(31)), "31 bytes"),
    "nsec of zero": (nip19.encode("nsec", bytes(32)), "zero"),
    "bare nsec1": ("nsec1", "too short"),
    "not a text": (None, "empty"),
}


@pytest.mark.parametrize("row", BIP340, ids=[str(n) for n in range(len(BIP340))])
def test_bip340_vectors(row: dict[str, str]) -> None:
    public, message, signature = (bytes.fromhex(row[name]) for name in ("public", "message", "signature"))
    assert verify_signature(public.hex(), message, signature) is (row["valid"] == "TRUE")
    if row["secret"]:
        secret = SecretKey.parse(row["secret"])
        assert secret.pubkey == public.hex()
        assert verify_signature(secret.pubkey, message, secret.sign(message))


@pytest.mark.parametrize(("text", "message"), NO_SECRETS.values(), ids=NO_SECRETS.keys())
def test_what_is_no_secret_key_is_named_and_not_shown(text: Any, message: str) -> None:
    with pytest.raises(InvalidKey, match=message) as caught:
        SecretKey.parse(text)
    shown = "".join(traceback.format_exception(caught.value, chain=True))
    if text and len(text) > 10:
        assert text.strip() not in str(caught.value)
        assert text[8:] not in shown


@pytest.mark.parametrize("text", [NSEC_HEX, NSEC_HEX.upper(), NSEC, NSEC.upper()])
def test_both_spellings_of_a_secret(text: str) -> None:
    secret = SecretKey.parse(text)
    assert (secret.to_hex(), secret.to_nsec()) == (NSEC_HEX, NSEC)


def test_the_largest_secret_is_public_knowledge_as_is_the_smallest() -> None:
    largest = SecretKey.parse(ORDER[:-1] + "0")
    smallest = SecretKey.parse("0" * 63 + "1")
    assert largest.pubkey == smallest.pubkey == GENERATOR
    assert largest.is_public_knowledge
    assert smallest.is_public_knowledge
    assert not SecretKey.parse("0" * 63 + "2").is_public_knowledge


@pytest.mark.parametrize("secret", [b"", b"\x01", bytes(31), bytes(33), None, "1" * 32])
def test_bytes_that_the_library_would_pad_or_replace(secret: Any) -> None:
    with pytest.raises(InvalidKey):
        SecretKey(secret)


def test_generated_keys_differ_and_read_back() -> None:
    one, other = SecretKey.generate(), SecretKey.generate()
    assert one.to_hex() != other.to_hex()
    assert SecretKey.parse(one.to_nsec()).pubkey == one.pubkey


def test_a_secret_shows_nothing_of_itself() -> None:
    @dataclasses.dataclass
    class Holder:
        secret: SecretKey

    secret = SecretKey.parse(NSEC)
    shapes = [
        repr(secret),
        str(secret),
        f"{secret}",
        f"{secret!r:>90}",
        "%s" % secret,  # noqa: UP031 - this is one of the ways
        repr([secret]),
        repr(Holder(secret)),
        repr(dataclasses.asdict(Holder(secret))),
        repr(copy.deepcopy({"key": secret})),
        repr(copy.copy(secret)),
        repr(getattr(secret, "__dict__", None)),
    ]
    for shape in shapes:
        assert NSEC_HEX not in shape
        assert NSEC not in shape
        assert repr(bytes.fromhex(NSEC_HEX)) not in shape
    for protocol in range(pickle.HIGHEST_PROTOCOL + 1):
        with pytest.raises(TypeError, match="not pickled"):
            pickle.dumps(secret, protocol)


def test_signing_takes_a_digest_only() -> None:
    with pytest.raises(ValueError, match="32 bytes"):
        SecretKey.generate().sign(b"too short")


@pytest.mark.parametrize("text", [NPUB_HEX, NPUB_HEX.upper(), NPUB, NPUB.upper()])
def test_spellings_of_a_public_key(text: str) -> None:
    assert parse_pubkey(text) == NPUB_HEX


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("", "empty"),
        (NSEC, "nsec"),
        (NPUB_HEX[:-2], "neither"),
        (NPUB_HEX + "00", "neither"),
        (NPUB[:-1] + "h", "checksum"),
        (nip19.encode("npub", bytes(33)), "33 bytes"),
        ("0" * 63 + "7", "curve"),
        ("0" * 64, "curve"),
        ("f" * 64, "curve"),
        (nip19.encode("npub", bytes(32)), "curve"),
    ],
)
def test_what_is_no_public_key(text: str, message: str) -> None:
    with pytest.raises(InvalidKey, match=message) as caught:
        parse_pubkey(text)
    if text == NSEC:
        assert NSEC not in str(caught.value)


def test_a_parsed_public_key_is_kept() -> None:
    assert x_only_key(NPUB_HEX) is x_only_key(NPUB_HEX)
    assert x_only_key("0" * 63 + "7") is None
