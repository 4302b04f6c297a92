from __future__ import annotations

import json
from typing import Any

import nostr_sdk
import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.nostr.event import (
    InvalidEvent,
    event_id,
    parse_event,
    serialize,
    sign_event,
    verify_event,
)
from app.nostr.keys import SecretKey
from tests.vectors import load, raw_of

CASES = load("nip01_events.json")["cases"]
# Where sound readers differ: only a number written in another way is the same event.
EITHER = {"number-spelling": True}
SECRET = SecretKey.parse("0" * 62 + "2a")
TEXTS = st.text(st.characters(exclude_categories=("Cs",)), max_size=30)
TAGS = st.lists(st.lists(TEXTS, min_size=1, max_size=4), max_size=4)
TIMES = st.integers(0, 2**53 - 1)
KINDS = st.integers(0, 65535)


def is_valid(source: Any) -> bool:
    try:
        return verify_event(parse_event(source))
    except InvalidEvent:
        return False


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['name']} {case['note']}")
def test_vectors(case: dict[str, Any]) -> None:
    expected = {"valid": True, "invalid": False, "either": EITHER.get(case["group"], False)}[case["expected"]]
    raw = raw_of(case)
    assert is_valid(raw) is expected
    if isinstance(raw, str):
        assert is_valid(raw.encode()) is expected


@given(content=TEXTS, tags=TAGS, created_at=TIMES, kind=KINDS)
def test_what_is_signed_here_verifies_in_rust_and_reads_back(
    content: str, tags: list[list[str]], created_at: int, kind: int
) -> None:
    event = sign_event(SECRET, created_at=created_at, kind=kind, tags=tags, content=content)
    assert nostr_sdk.Event.from_json(event.to_json()).verify()
    assert parse_event(event.to_json()) == parse_event(event.to_dict()) == event
    assert list(json.loads(event.to_json())) == [
        *("id", "pubkey", "created_at", "kind", "tags", "content", "sig")
    ]


@given(content=TEXTS, tags=TAGS, created_at=TIMES, kind=KINDS)
def test_what_is_signed_in_rust_verifies_here(
    content: str, tags: list[list[str]], created_at: int, kind: int
) -> None:
    builder = (
        nostr_sdk.EventBuilder(nostr_sdk.Kind(kind), content)
        .tags([nostr_sdk.Tag.parse(tag) for tag in tags])
        .custom_created_at(nostr_sdk.Timestamp.from_secs(created_at))
    )
    signed = builder.finalize(nostr_sdk.Keys(nostr_sdk.SecretKey.parse(SECRET.to_hex())))
    event = parse_event(signed.as_json())
    assert verify_event(event)
    assert (event.pubkey, event.created_at, event.kind) == (SECRET.pubkey, created_at, kind)
    assert (event.tags, event.content) == (tuple(map(tuple, tags)), content)


@given(content=TEXTS, place=st.integers(0, 63), digit=st.sampled_from("0123456789abcdef"))
def test_a_changed_digit_is_noticed(content: str, place: int, digit: str) -> None:
    fields = sign_event(SECRET, created_at=1, kind=1, tags=[], content=content).to_dict()
    for name in ("id", "pubkey", "sig"):
        changed = fields[name][:place] + digit + fields[name][place + 1 :]
        assert is_valid({**fields, name: changed}) is (changed == fields[name])


def test_serialisation_escapes_as_javascript_does() -> None:
    content = "".join(map(chr, range(0x21))) + '"\\/\x7f\u2028\U0001f600'
    assert serialize("ab", 5, 1, [["t", "\n"]], content) == (
        rb'[0,"ab",5,1,[["t","\n"]],"\u0000\u0001\u0002\u0003\u0004\u0005\u0006\u0007\b\t\n\u000b\f\r'
        rb"\u000e\u000f\u0010\u0011\u0012\u0013\u0014\u0015\u0016\u0017\u0018\u0019\u001a\u001b\u001c"
        rb"\u001d\u001e\u001f \"\\/" + '\x7f\u2028\U0001f600"]'.encode()
    )


def test_an_id_that_others_have_computed() -> None:
    case = next(case for case in CASES if case["expected"] == "valid")
    fields = json.loads(case["raw"])
    names = ("pubkey", "created_at", "kind", "tags", "content")
    assert event_id(*(fields[name] for name in names)) == fields["id"]


@pytest.mark.parametrize("text", ["\ud83d", "\ude00\ud83d"])
def test_lone_surrogates_have_no_id(text: str) -> None:
    with pytest.raises(InvalidEvent, match="surrogate"):
        event_id("ab", 1, 1, [], text)
    with pytest.raises(InvalidEvent, match="surrogate"):
        sign_event(SECRET, created_at=1, kind=1, tags=[["t", text]], content="")


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"created_at": -1}, "created_at is outside"),
        ({"created_at": 2**53}, "created_at is outside"),
        ({"created_at": 1.5}, "created_at is not an integer"),
        ({"created_at": True}, "created_at is not an integer"),
        ({"kind": 65536}, "kind is outside"),
        ({"kind": "1"}, "kind is not an integer"),
        ({"tags": [[]]}, "a tag is empty"),
        ({"tags": [["t", 1]]}, "not a string"),
        ({"content": 1}, "content is not a string"),
    ],
)
def test_only_a_sound_event_is_signed(changes: dict[str, Any], message: str) -> None:
    template: dict[str, Any] = {"created_at": 1, "kind": 1, "tags": [], "content": ""}
    with pytest.raises(InvalidEvent, match=message):
        sign_event(SECRET, **{**template, **changes})


EVENT = sign_event(SECRET, created_at=1_700_000_000, kind=1, tags=[["t", "x"]], content="hi").to_dict()


@pytest.mark.parametrize(
    ("changes", "message"),
    [
        ({"id": EVENT["id"].upper()}, "id is not 64"),
        ({"id": EVENT["id"] + "\n"}, "id is not 64"),
        ({"sig": EVENT["sig"][:-2]}, "sig is not 128"),
        ({"pubkey": None}, "pubkey is not a string"),
        ({"tags": None}, "tags is not a list"),
        ({"tags": ["t"]}, "a tag is not a list"),
        ({"created_at": float("nan")}, "created_at is not an integer"),
        ({"created_at": float("inf")}, "created_at is not an integer"),
        ({"created_at": 10**5000}, "created_at is outside"),
        ({"content": {1, 2}}, "a set, which is no JSON value"),
        ({"tags": [["t", object()]]}, "a object, which is no JSON value"),
        ({"tags": {"t"}}, "a set, which is no JSON value"),
    ],
)
def test_the_message_names_the_field(changes: dict[str, Any], message: str) -> None:
    with pytest.raises(InvalidEvent, match=message):
        parse_event({**EVENT, **changes})


@pytest.mark.parametrize("name", EVENT)
def test_a_missing_field_is_named(name: str) -> None:
    with pytest.raises(InvalidEvent, match=f"{name} is missing"):
        parse_event({key: value for key, value in EVENT.items() if key != name})


@pytest.mark.parametrize("source", [None, 1, [], "[]", "1", "null", b"\xff", "", bytearray(b"{}"), {1}])
def test_what_is_no_object(source: Any) -> None:
    with pytest.raises(InvalidEvent):
        parse_event(source)


@pytest.mark.parametrize("spelling", ['{"id":"", %s}', '{"\\u0069d":"", %s}', ' {"id" :\t"",%s}'])
def test_a_repeated_key_is_refused_in_text(spelling: str) -> None:
    body = json.dumps(EVENT)[1:-1]
    assert is_valid("{" + body + "}")
    with pytest.raises(InvalidEvent, match="'id' occurs twice"):
        parse_event(spelling % body)


def test_tuples_serve_as_lists_and_whole_floats_as_integers() -> None:
    fields = {**EVENT, "tags": (("t", "x"),), "created_at": 1.7e9, "kind": 1.0, "more": object()}
    event = parse_event(fields)
    assert event.to_dict() == EVENT
    assert (type(event.created_at), type(event.kind)) == (int, int)
    assert verify_event(event)
