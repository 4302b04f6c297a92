from __future__ import annotations

import json
import shutil
import struct
import subprocess
from pathlib import Path
from typing import Any

import orjson
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from app.nostr.json_text import (
    EXACT_LIMIT,
    InvalidJson,
    parse,
    parse_outermost,
    read_exactly,
    split_array,
)
from tests.json_texts import json_texts, texts

REFUSED = object()


def stdlib(text: str) -> Any:
    """The standard library's reading, which is JSON's but for the constants and the size of integers."""

    def refuse(constant: str) -> None:
        raise ValueError(constant)

    try:
        return json.loads(text, parse_constant=refuse, parse_int=float)
    except (ValueError, RecursionError):
        return REFUSED


def exactly(text: str) -> Any:
    try:
        return read_exactly(text)[0]
    except InvalidJson:
        return REFUSED


def typed(value: Any) -> str:
    """A value with its types: 1, 1.0 and True differ, as do 0.0 and -0.0."""
    return ascii(value)


@settings(max_examples=200)
@given(texts)
def test_the_exact_reader_reads_what_the_standard_library_reads(text: str) -> None:
    assert shape(exactly(text)) == shape(stdlib(text))


@settings(max_examples=200)
@given(texts)
def test_both_readers_agree_where_both_answer(text: str) -> None:
    try:
        quick = orjson.loads(text)
    except orjson.JSONDecodeError:
        return
    assert typed(exactly(text)) == typed(quick)


@given(texts)
def test_parse_answers_as_the_exact_reader(text: str) -> None:
    try:
        value = parse(text)
    except InvalidJson:
        value = REFUSED
    assert typed(value) == typed(exactly(text))


@given(json_texts)
def test_repeated_keys_are_those_that_the_standard_library_sees(text: str) -> None:
    outermost: list[Any] = []

    def keep(pairs: list[tuple[str, Any]]) -> dict[str, Any]:
        outermost[:] = [pairs]
        return dict(pairs)

    value = json.loads(text, object_pairs_hook=keep, parse_int=float)
    keys = [key for key, _ in outermost[0]] if isinstance(value, dict) else []
    repeated = [key for place, key in enumerate(keys) if key in keys[:place]]
    for reader in (parse_outermost, read_exactly):
        assert reader(text)[1] == (repeated[0] if repeated else None)


def shape(value: Any) -> Any:
    """The same description as parse_all.js gives."""
    if value is REFUSED:
        return None
    if isinstance(value, bool) or value is None or isinstance(value, str):
        return ["other", value]
    if isinstance(value, int | float):
        return ["number", struct.pack(">d", float(value) or 0.0).hex()]
    if isinstance(value, list):
        return ["array", [shape(element) for element in value]]
    return [
        "object",
        [
            [key, shape(value[key])]
            for key in sorted(value, key=lambda key: key.encode("utf-16-be", "surrogatepass"))
        ],
    ]


@pytest.mark.skipif(shutil.which("node") is None, reason="node is not installed")
@settings(max_examples=8, suppress_health_check=list(HealthCheck))
@given(st.lists(texts, min_size=30, max_size=120))
def test_javascript_reads_the_same(batch: list[str]) -> None:
    script = Path(__file__).parent / "parse_all.js"
    answer = subprocess.run(
        ["node", str(script)], input=json.dumps(batch).encode(), capture_output=True, check=True
    )
    for text, expected in zip(batch, json.loads(answer.stdout), strict=True):
        assert shape(exactly(text)) == expected


@pytest.mark.parametrize(
    ("text", "value"),
    [
        ("9007199254740993", 9007199254740993),
        ("18446744073709551615", 2**64 - 1),
        ("18446744073709551616", 2.0**64),
        ("-9223372036854775809", -(2.0**63)),
        ("1e400", float("inf")),
        ("-" + "9" * 5000, float("-inf")),
        (r'"\ud83d"', "\ud83d"),
        (r'"\ud83d\ude00"', "\U0001f600"),
        (r'"\ude00\ud83d"', "\ude00\ud83d"),
        ('{"a":1,"a":2}', {"a": 2}),
        ('{"__proto__":{"v":1}}', {"__proto__": {"v": 1}}),
        (" \t\r\n[ ]\n", []),
        ('"\u2028\x7f"', "\u2028\x7f"),
    ],
)
def test_values(text: str, value: Any) -> None:
    assert typed(parse(text)) == typed(read_exactly(text)[0]) == typed(value)
    assert parse(text.encode()) == value


NO_TOKENS = "01 +1 1. .5 1e 0x1 NaN Infinity - tru undefined １ ] } , : [1 [1,] [,1] [} {] [1} 'a' \"a"
NO_OBJECTS = r'{a:1} {"a"} {"a":1] {"a":1,} {,"a":1} {"a"::1} "\x41" "\u12" 1// //1 1; {1:1} {"a":1 "b":2}'
NO_JSON = [
    *NO_TOKENS.split(),
    *NO_OBJECTS.split(),
    *["", " ", '"\n"', "1 2", "[1]\x00", "\ufeff1", "1\ufeff", "\x0b1", "\x0c1", "\u20281", "\xa01"],
]


@pytest.mark.parametrize("text", NO_JSON)
def test_what_is_no_json(text: str) -> None:
    for reader in (parse, parse_outermost, read_exactly):
        with pytest.raises(InvalidJson):
            reader(text)


@pytest.mark.parametrize(
    "data", [b"\xff\xfe{\x00}\x00", b'"\xff"', b'"\xed\xa0\x80"', b'"\xc0\xaf"', b"\xef\xbb\xbf{}"]
)
def test_bytes_that_are_no_json(data: bytes) -> None:
    for reader in (parse, parse_outermost, read_exactly):
        with pytest.raises(InvalidJson):
            reader(data)


def test_a_byte_order_mark_is_named() -> None:
    for text in ("\ufeff{}", b"\xef\xbb\xbf{}"):
        with pytest.raises(InvalidJson, match="byte order mark"):
            parse_outermost(text)


@pytest.mark.parametrize("depth", [10, 254, 255, 1000, 1024, 1025, 10_000, 60_000])
def test_any_depth(depth: int) -> None:
    value = parse("[" * depth + "]" * depth)
    for _ in range(depth - 1):
        (value,) = value
    assert value == []
    _, repeated = parse_outermost('{"a":' * 2 + "[" * depth + "]" * depth + '},"a":1}')
    assert repeated == "a"
    with pytest.raises(InvalidJson):
        parse("[" * depth + "]" * (depth - 1))


def test_the_exact_reader_has_a_limit_and_orjson_has_none() -> None:
    long = "1" * (EXACT_LIMIT - 2)
    assert parse(f"[{long}]") == [float("inf")]
    with pytest.raises(InvalidJson, match="too long"):
        parse(f"[{long}1]")
    with pytest.raises(InvalidJson, match="too long"):
        parse(f"[{long}1]".encode())
    assert parse('"' + "x" * EXACT_LIMIT + '"') == "x" * EXACT_LIMIT


@given(st.lists(json_texts, max_size=5))
def test_an_array_splits_into_its_elements(elements: list[str]) -> None:
    assert list(split_array("[" + ",".join(elements) + "]")) == elements


@pytest.mark.parametrize(
    "text", ["", "{}", "1", "[1", "[1,", '["a]', "[1] 2", "x[1]", '["a\\"]', "[[1]", '"[1]"']
)
def test_what_is_no_whole_array(text: str) -> None:
    with pytest.raises(InvalidJson):
        list(split_array(text))
