from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.nostr.nip19 import InvalidBech32, decode, encode

# The examples of NIP-19.
EXAMPLES = {
    "npub10elfcs4fr0l0r8af98jlmgdh9c8tcxjvz9qkw038js35mp4dma8qzvjptg": (
        "npub",
        "7e7e9c42a91bfef19fa929e5fda1b72e0ebc1a4c1141673e2794234d86addf4e",
    ),
    "nsec1vl029mgpspedva04g90vltkh6fvh240zqtv9k0t9af8935ke9laqsnlfe5": (
        "nsec",
        "67dea2ed018072d675f5415ecfaed7d2597555e202d85b3d65ea4e58d2d92ffa",
    ),
}


@pytest.mark.parametrize(("text", "prefix", "data"), [(t, p, d) for t, (p, d) in EXAMPLES.items()])
def test_examples(text: str, prefix: str, data: str) -> None:
    assert encode(prefix, bytes.fromhex(data)) == text
    assert decode(text) == decode(text.upper()) == (prefix, bytes.fromhex(data))


# From BIP-173: valid texts whose data part is empty or a whole number of bytes, and invalid ones.
@pytest.mark.parametrize(
    "text",
    [
        "A12UEL5L",
        "a12uel5l",
        "an83characterlonghumanreadablepartthatcontainsthenumber1andtheexcludedcharactersbio1tt5tgs",
    ],
)
def test_bip173_valid(text: str) -> None:
    assert decode(text) == (text.lower().rpartition("1")[0], b"")


@pytest.mark.parametrize(
    ("text", "reason"),
    [
        (" 1nwldj5", "checksum|space|printable"),
        ("\x7f1axkwrx", "printable"),
        ("\x801eym55h", "printable"),
        ("an84characterslonghumanreadablepartthatcontainsthenumber1andtheexcludedcharactersbio1569pvx", "90"),
        ("pzry9x0s0muk", "prefix"),
        ("1pzry9x0s0muk", "prefix"),
        ("x1b4n0q5v", "does not use"),
        ("li1dgmt3", "too short"),
        ("de1lg7wt\xff", "printable"),
        ("A1G7SGD8", "checksum"),
        ("10a06t8", "prefix"),
        ("1qzzfhee", "prefix"),
        ("a12UEL5L", "upper and lower"),
        ("", "prefix"),
        ("split1checkupstagehandshakeupstreamerranterredcaperred2y9e3v", "checksum"),
    ],
)
def test_bip173_invalid(text: str, reason: str) -> None:
    with pytest.raises(InvalidBech32, match=reason) as caught:
        decode(text)
    assert not text.strip() or text not in str(caught.value)


@pytest.mark.parametrize(
    "text",
    [
        "nsec1lntuw45",  # one five-bit group, which is no whole byte
        "nsec1qpvjxt40",  # a byte of zeros and a rest that is not zero
        "nsec1qqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqqpnqrxq7",  # 32 bytes and such a rest
    ],
)
def test_stray_bits_are_refused(text: str) -> None:
    with pytest.raises(InvalidBech32, match="stray"):
        decode(text)


@given(st.text("abcdefghijklmnopqrstuvwxyz", min_size=1, max_size=8), st.binary(max_size=40))
def test_what_is_encoded_decodes(prefix: str, data: bytes) -> None:
    assert decode(encode(prefix, data)) == (prefix, data)


@given(
    st.binary(min_size=32, max_size=32),
    st.integers(5, 62),
    st.sampled_from("qpzry9x8gf2tvdw0s3jn54khce6mua7l"),
)
def test_one_changed_character_is_always_noticed(data: bytes, place: int, character: str) -> None:
    text = encode("npub", data)
    changed = text[:place] + character + text[place + 1 :]
    if changed != text:
        with pytest.raises(InvalidBech32):
            decode(changed)


@given(st.text(max_size=100))
def test_any_text_decodes_or_is_refused(text: str) -> None:
    try:
        prefix, data = decode(text)
    except InvalidBech32:
        return
    assert encode(prefix, data) == text.lower()
