from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.scores.consistency import (
    claimed_score,
    claimed_username,
    has_version,
    inconsistencies,
    read_content,
    shown,
)
from app.scores.score_event import score_template

TAGS, CONTENT = score_template("Alice", 72)


@pytest.mark.parametrize(
    "text", ['{"v":1}', '{"v":1.0}', '{"v":1e0}', '{"v":10e-1}', '{"v":2,"v":1}', ' {"v" :1}']
)
def test_v_is_javascripts_one(text: str) -> None:
    assert has_version(read_content(text))


@pytest.mark.parametrize("value", ["true", '"1"', "[1]", "null", "2", "1.0000000000000003", "-1", '{"v":1}'])
def test_v_is_nothing_else(value: str) -> None:
    assert not has_version(read_content(f'{{"v":{value}}}'))
    assert not has_version(read_content('{"V":1}'))
    assert not has_version(read_content("[1]"))


SCORES = {"0": 0, "120": 120, "72.0": 72, "7.2e1": 72, "-0": 0, "-0.0": 0, "71.99999999999999999999": 72}
NO_SCORES = ["121", "-1", "72.5", "true", '"72"', "null", "[72]", "1e999", "9" * 5000]


@pytest.mark.parametrize(("text", "score"), [*SCORES.items(), *((text, None) for text in NO_SCORES)])
def test_scores(text: str, score: int | None) -> None:
    assert claimed_score(read_content(f'{{"score":{text}}}')) == score


@pytest.mark.parametrize(("text", "username"), [('"Zoë"', "Zoë"), ('""', None), ("1", None), ("null", None)])
def test_usernames(text: str, username: str | None) -> None:
    assert claimed_username(read_content(f'{{"username":{text}}}')) == username


def test_what_the_publisher_writes_is_consistent_in_any_order_of_tags() -> None:
    assert inconsistencies(TAGS, read_content(CONTENT)) == []
    assert inconsistencies(TAGS[::-1], read_content(CONTENT)) == []


@pytest.mark.parametrize(
    ("tags", "content", "reason"),
    [
        (TAGS[1:], CONTENT, "the tag d is missing"),
        ([*TAGS, TAGS[0]], CONTENT, "the tag d occurs 2 times"),
        ([*TAGS[:3], ["score", "72", ""]], CONTENT, "a tag score has 3 elements, not 2"),
        ([*TAGS[:3], ["score", "072"]], CONTENT, "the tag score is not '72', as the content has it"),
        ([["d", "Alice"], *TAGS[1:]], CONTENT, "the tag d is not 'alice', as the content has it"),
        ([*TAGS, ["room", "x"]], CONTENT, "there are other tags: 'room'"),
        ([*TAGS, []], CONTENT, "there are other tags: a list"),
        (TAGS, CONTENT.replace("}", ',"room":1}'), "the content has other fields: 'room'"),
        (TAGS, CONTENT.replace("72", "121"), "the content's score is not a whole number from 0 to 120"),
        (TAGS, CONTENT.replace('"Alice"', '""'), "the content's username is not a string, or empty"),
        (TAGS, "[]", "the content is not a JSON object"),
        (None, CONTENT, "tags is not a list"),
    ],
)
def test_each_fault_is_the_only_one_named(tags: Any, content: str, reason: str) -> None:
    assert inconsistencies(tags, read_content(content)) == [reason]


ANYTHING = st.recursive(
    st.one_of(st.none(), st.booleans(), st.integers(), st.floats(), st.text(st.characters())),
    lambda values: st.one_of(st.lists(values), st.dictionaries(st.text(), values)),
)


@given(ANYTHING, ANYTHING)
def test_anything_gets_reasons_in_plain_ascii(tags: object, content: object) -> None:
    text = content if isinstance(content, str) else json.dumps(content)
    reasons = inconsistencies(tags, read_content(text))
    assert reasons
    assert all(reason.isascii() and reason.isprintable() and len(reason) < 600 for reason in reasons)


@given(ANYTHING)
def test_a_shown_value_is_short_plain_ascii(value: object) -> None:
    assert shown(value).isascii()
    assert shown(value).isprintable()
    assert len(shown(value)) <= 500


def test_numbers_without_a_short_form() -> None:
    for number in (10**5000, -(10**5000), float("nan"), float("inf")):
        assert shown(number) == "a number out of range"
