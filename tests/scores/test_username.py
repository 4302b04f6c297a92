import unicodedata

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.scores.username import InvalidUsername, check_username

GOOD = [
    "alice", "A", "a" * 32, "x_y-z.9", "...", "0",
    "Zoë", "Þórr", "ΑΛΊΚΗ", "Иван", "李雷", "さくらサクラ桜", "김철수", "محمد", "דוד", "अनिल", "สมชาย",
    "ᏣᎳᎩ",  # a limited-use script alone
    "𐌰𐌱",  # a historic script alone
    "李雷7",
]  # fmt: skip

BAD = {
    "": "empty",
    ".": "no address",
    "..": "no address",
    "a" * 33: "33 characters",
    "a b": "U+0020",
    "a\tb": "U+0009",
    "a\x00": "U+0000",
    "a\u200bb": "U+200B",  # zero-width space
    "a\u200db": "U+200D",  # zero-width joiner
    "a\u202eb": "U+202E",  # right-to-left override
    "\u2066a": "U+2066",  # bidi isolate
    "\ufeffa": "U+FEFF",
    "a\u034fb": "U+034F",  # combining grapheme joiner: a mark, but invisible
    "\u3164": "U+3164",  # hangul filler: a letter, but invisible
    "a\ufe0f": "U+FE0F",  # variation selector
    "🃏ace": "U+1F0CF",
    "a/b": "U+002F",
    "<b>": "U+003C",
    "alice\n": "U+000A",
    "Ⅷ": "U+2167",  # Nl is neither letter nor decimal digit
    "\ud800": "U+D800",
    "\u212aelvin": "NFKC",  # Kelvin sign
    "ﬁ": "NFKC",  # ligature
    "ａｌｉｃｅ": "NFKC",  # full width
    "Zoe\u0308": "NFKC",  # decomposed
    "\u0301a": "combining mark",
    "p\u0430ypal": "scripts",  # Cyrillic a
    "αlice": "scripts",
    "Ивan": "scripts",
    "さくら김": "scripts",
}


@pytest.mark.parametrize("name", GOOD)
def test_good_names_pass_unchanged(name):
    assert check_username(name) == name


@pytest.mark.parametrize("name", BAD)
def test_bad_names_say_why(name):
    with pytest.raises(InvalidUsername, match=BAD[name].replace("+", r"\+")):
        check_username(name)


@given(st.text(max_size=40))
def test_what_passes_keeps_the_rules(name):
    try:
        check_username(name)
    except InvalidUsername as error:
        assert str(error).isprintable()
        return
    assert 1 <= len(name) <= 32
    assert unicodedata.normalize("NFKC", name) == unicodedata.normalize("NFC", name) == name
    assert all(
        c in "_-." or unicodedata.category(c)[0] in "LM" or unicodedata.category(c) == "Nd" for c in name
    )
