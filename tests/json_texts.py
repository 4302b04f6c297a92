"""Hypothesis strategies for JSON texts and for texts that are nearly JSON."""

from __future__ import annotations

from hypothesis import strategies as st

_SPACE = st.text(" \t\n\r", max_size=2)
_NUMBERS = st.one_of(
    st.integers(-(2**70), 2**70).map(str),
    st.floats(allow_nan=False, allow_infinity=False).map(repr),
    st.from_regex(r"-?(0|[1-9][0-9]{0,25})(\.[0-9]{1,25})?([eE][+-]?[0-9]{1,3})?", fullmatch=True),
    st.sampled_from(["-0", "-0.0", "1e400", "-1e999", "1E0", "9" * 5000, "18446744073709551616", "1.0"]),
)
_STRING_PARTS = st.one_of(
    st.characters(exclude_characters='"\\', exclude_categories=("Cs",), min_codepoint=0x20),
    st.sampled_from([r"\n", r"\"", r"\\", r"\/", r"A", r"\ud83d\ude00", r"\ud83d", r"\uDE00", r"\u0000"]),
)
_STRINGS = st.lists(_STRING_PARTS, max_size=6).map(lambda parts: '"' + "".join(parts) + '"')
_KEYS = st.one_of(st.sampled_from(['"v"', '"id"', r'"\u0069d"', '"__proto__"', '"1"', '""']), _STRINGS)
_WORDS = st.sampled_from(["true", "false", "null"])


def _arrays(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.lists(values, max_size=4).map(lambda items: "[" + ",".join(items) + "]")


def _objects(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    pairs = st.tuples(_KEYS, _SPACE, _SPACE, values).map(
        lambda part: f"{part[0]}{part[1]}:{part[2]}{part[3]}"
    )
    return st.lists(pairs, max_size=5).map(lambda items: "{" + ",".join(items) + "}")


def _padded(values: st.SearchStrategy[str]) -> st.SearchStrategy[str]:
    return st.tuples(_SPACE, values, _SPACE).map("".join)


json_texts = _padded(
    st.recursive(
        _padded(st.one_of(_NUMBERS, _STRINGS, _WORDS)),
        lambda values: _padded(st.one_of(_arrays(values), _objects(values))),
        max_leaves=12,
    )
)

_NO_TOKENS = ", ] } [ { : ' \" \\ NaN Infinity 01 +1 .5 1. // undefined e - １"
_WRONG = st.sampled_from(
    [
        *_NO_TOKENS.split(),
        *["", "\x00", "\x0b", "\n", "\x1f", "\xa0", "\u2028", "\ufeff"],
    ]
)


@st.composite
def damaged_texts(draw: st.DrawFn) -> str:
    """A JSON text with a piece cut out and something put in its place, which may still be JSON."""
    text = draw(json_texts)
    start = draw(st.integers(0, len(text)))
    end = min(len(text), start + draw(st.integers(0, 3)))
    return text[:start] + draw(_WRONG) + text[end:]


texts = st.one_of(json_texts, damaged_texts(), st.text(max_size=20))
