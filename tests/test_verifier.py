from __future__ import annotations

import json
import pickle
import re
from collections import UserDict
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app import verifier
from app.nostr import nip19
from app.nostr.event import InvalidEvent, read_fields, sign_event
from app.nostr.keys import SecretKey
from app.scores.score_event import KIND, score_template, sign_score
from app.verifier import Check, Verdict, verify
from tests.json_texts import texts
from tests.vectors import load, raw_of

CASES = load("score_events.json")["cases"]
# Where sound readers differ: 31250.0 is the same number; capitals in sig and a negative time are refused.
EITHER = {"kind-spelling": "ok", "signature-spelling": "signature"}

SECRET = SecretKey.parse("0" * 62 + "2a")
OTHER = SecretKey.parse("0" * 62 + "2b")
KEYS = frozenset({SECRET.pubkey})
GOOD = sign_score(SECRET, username="alice", score=72, created_at=1_700_000_000)


def signed(
    *, content: str | None = None, tags: Any = None, created_at: int = 1_700_000_000, kind: int = KIND
) -> dict[str, Any]:
    """A rightly signed event that differs from the good one as told."""
    good_tags, good_content = score_template("alice", 72)
    return sign_event(
        SECRET,
        created_at=created_at,
        kind=kind,
        tags=good_tags if tags is None else tags,
        content=good_content if content is None else content,
    ).to_dict()


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['name']} {case['note']}")
def test_vectors(case: dict[str, Any]) -> None:
    raw = raw_of(case)
    verdict = verify(raw, case["app_pubkey"])
    expected = EITHER[case["group"]] if case["expected"] == "either" else case["expected"]
    assert (verdict.failed or "ok") == expected
    assert verdict.consistent is bool(case["consistent"])
    assert bool(verdict.reasons) is not (verdict.ok and verdict.consistent)
    assert verify(raw.encode(), case["app_pubkey"]) == verdict
    if expected != "unparsable":
        assert verify(json.loads(raw), case["app_pubkey"]) == verdict


def test_a_good_event() -> None:
    verdict = verify(GOOD.to_json(), SECRET.pubkey)
    assert verdict == Verdict(None, consistent=True, id=GOOD.id, username="alice", score=72)
    assert verdict.ok
    assert json.dumps(verdict.to_dict(), separators=(",", ":")) == (
        f'{{"id":"{GOOD.id}","ok":true,"failed":null,"consistent":true,"reasons":[],'
        '"username":"alice","score":72}'
    )


def test_a_bad_event_vouches_for_nothing() -> None:
    verdict = verify(GOOD.to_json(), OTHER.pubkey)
    assert not verdict.ok
    assert (verdict.failed, verdict.consistent, verdict.id) == (Check.PUBKEY, True, GOOD.id)
    assert (verdict.username, verdict.score) == (None, None)
    assert "not the app's" in verdict.reasons[0]


# Every part of an event, changed after signing: the check that fails and the reason given.
CHANGES: list[tuple[dict[str, Any], Check, str]] = [
    ({"kind": 1}, Check.KIND, "the kind is 1, not 31250"),
    ({"kind": True}, Check.KIND, "the kind is true, not 31250"),
    ({"kind": "31250"}, Check.KIND, "the kind is '31250', not 31250"),
    ({"pubkey": OTHER.pubkey}, Check.PUBKEY, "not the app's"),
    ({"pubkey": None}, Check.PUBKEY, "the public key is null"),
    ({"tags": []}, Check.APP, "no app tag"),
    ({"tags": "app"}, Check.APP, "no app tag"),
    ({"tags": [["app"], "app", ["APP", "briscola-score"]]}, Check.APP, "no app tag"),
    ({"created_at": 1_700_000_001}, Check.SIGNATURE, "the id is not the hash"),
    ({"created_at": -1}, Check.SIGNATURE, "created_at is outside"),
    ({"created_at": 1e21}, Check.SIGNATURE, "created_at is outside"),
    ({"sig": "0" * 128}, Check.SIGNATURE, "the signature is not this public key's"),
    ({"sig": GOOD.sig.upper()}, Check.SIGNATURE, "sig is not 128 lower-case hex digits"),
    ({"id": GOOD.id.upper()}, Check.SIGNATURE, "id is not 64 lower-case hex digits"),
    ({"content": "\ud83d"}, Check.SIGNATURE, "lone surrogate"),
    ({"content": 1}, Check.SIGNATURE, "content is not a string"),
]


@pytest.mark.parametrize(("change", "check", "reason"), CHANGES)
def test_the_check_that_fails_and_why(change: dict[str, Any], check: Check, reason: str) -> None:
    event = {**GOOD.to_dict(), **change}
    verdict = verify(event, SECRET.pubkey)
    assert verdict.failed is check
    assert reason in verdict.reasons[0]
    assert verify(json.dumps(event), SECRET.pubkey) == verdict


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        ("", "the content is not a JSON object"),
        ("[1]", "the content is not a JSON object"),
        ('{"v":true,"username":"alice","score":72}', "the content's v is true, not 1"),
        ('{"username":"alice","score":72}', "the content's v is null, not 1"),
        ('{"v":2,"username":"alice","score":72}', "the content's v is 2, not 1"),
    ],
)
def test_content_of_a_rightly_signed_event(content: str, reason: str) -> None:
    verdict = verify(signed(content=content), SECRET.pubkey)
    assert verdict.failed is Check.CONTENT
    assert verdict.reasons[0] == reason


def test_ten_thousand_brackets_are_no_fault() -> None:
    deep = "[" * 10_000 + "]" * 10_000
    content = f'{{"v":1,"username":"alice","score":72,"x":{deep}}}'
    verdict = verify(json.dumps(signed(content=content)), SECRET.pubkey)
    assert verdict.ok
    assert verdict.reasons == ("the content has other fields: 'x'",)
    beside = GOOD.to_json().replace("{", f'{{"x":{deep},', 1)
    assert verify(beside, SECRET.pubkey) == verify(GOOD.to_json(), SECRET.pubkey)
    for name in GOOD.to_dict():
        nested = json.dumps({**GOOD.to_dict(), name: "DEEP"}).replace('"DEEP"', deep)
        assert verify(nested, SECRET.pubkey).failed not in (None, Check.UNPARSABLE)
    assert verify(deep, SECRET.pubkey).failed is Check.UNPARSABLE
    assert verify("[" * 100_000, SECRET.pubkey).failed is Check.UNPARSABLE


@pytest.mark.parametrize("name", ["id", "kind", "pubkey", "tags", "content", "sig", "created_at"])
def test_a_repeated_key_is_seen_in_text(name: str) -> None:
    text = GOOD.to_json().replace("{", f'{{"{name}":{json.dumps(GOOD.to_dict()[name])},', 1)
    verdict = verify(text, SECRET.pubkey)
    assert verdict.failed is Check.SIGNATURE
    assert verdict.reasons == (f"the key '{name}' occurs twice in the event",)


def test_a_repeated_key_that_nobody_reads_is_refused_too_but_not_one_further_in() -> None:
    text = GOOD.to_json()[:-1]
    assert verify(text + ',"x":1,"x":1}', SECRET.pubkey).failed is Check.SIGNATURE
    assert verify(text + ',"x":{"id":1,"id":2}}', SECRET.pubkey).ok


def test_several_keys() -> None:
    for keys in ({SECRET.pubkey, OTHER.pubkey}, [OTHER.pubkey, SECRET.pubkey], (k for k in [SECRET.pubkey])):
        assert verify(GOOD.to_json(), keys).ok
    assert verify(GOOD.to_json(), nip19.encode("npub", bytes.fromhex(SECRET.pubkey))).ok
    assert verify(GOOD.to_json(), SECRET.pubkey.upper()).ok


@pytest.mark.parametrize("key", ["", "ab", "0" * 64, SECRET.to_nsec(), None, 5, [], [""], [5], {"x"}, b"ab"])
def test_a_bad_app_key_is_the_callers_fault(key: Any) -> None:
    with pytest.raises(ValueError, match="key"):
        verify(GOOD.to_json(), key)


class Hostile:
    """An object whose every method raises."""

    def __eq__(self, other: object) -> bool:
        raise RuntimeError("no")

    def __hash__(self) -> int:
        raise RuntimeError("no")

    def __repr__(self) -> str:
        raise RuntimeError("no")

    __bool__ = __len__ = __str__ = __repr__  # type: ignore[assignment]


class HostileText(str):
    """A text that claims to equal anything."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        return True

    __hash__ = str.__hash__


class HostileMapping(UserDict[str, Any]):
    def __getitem__(self, key: str) -> Any:
        raise RuntimeError("no")

    def __contains__(self, key: object) -> bool:
        return True


class HostileDict(dict[str, Any]):
    def __contains__(self, key: object) -> bool:
        raise RecursionError


SELF: dict[str, Any] = GOOD.to_dict()
SELF["content"] = SELF
SELF_TAGS: list[Any] = [["app", "briscola-score"]]
SELF_TAGS.append(SELF_TAGS)


@pytest.mark.parametrize(
    "value",
    [
        {"a"},
        Hostile(),
        HostileText(GOOD.id),
        True,
        SELF,
        SELF_TAGS,
        b"x",
        1j,
        10**5000,
        float("nan"),
        [Hostile()],
    ],
    ids=lambda value: type(value).__name__,
)
@pytest.mark.parametrize("name", GOOD.to_dict())
def test_no_value_in_a_mapping_gets_through_or_raises(name: str, value: Any) -> None:
    fields = GOOD.to_dict()
    assert not verify({**fields, name: value}, SECRET.pubkey).ok
    for place in range(4):
        tags = [list(tag) for tag in fields["tags"]]
        tags[place][1] = value
        assert not verify({**fields, "tags": tags}, SECRET.pubkey).ok


NO_VALUES = [
    None,
    5,
    [],
    (),
    {"a"},
    Hostile(),
    HostileMapping(),
    HostileDict(id=1),
    HostileText("{}"),
    object,
]
NO_TEXTS = [
    b"\xff",
    b"",
    "",
    "{",
    "NaN",
    '{"id":NaN}',
    "\ud83d",
    "[{}]",
    "null",
    '"{}"',
    "\ufeff" + GOOD.to_json(),
]


@pytest.mark.parametrize(
    "event",
    [*NO_VALUES, *NO_TEXTS, GOOD.to_json().encode("utf-16")],
    ids=lambda event: type(event).__name__,
)
def test_what_is_no_json_object_is_unparsable(event: Any) -> None:
    verdict = verify(event, SECRET.pubkey)
    assert verdict.failed is Check.UNPARSABLE
    assert not verdict.consistent
    assert len(verdict.reasons) == 1


def test_a_mapping_of_another_type_is_read() -> None:
    assert verify(UserDict(GOOD.to_dict()), SECRET.pubkey).ok


def test_a_line_of_64_megabytes_ends_in_a_verdict() -> None:
    size = 64 * 1024 * 1024
    assert verify(b'{"id":"' + b"x" * size + b'"}', SECRET.pubkey).failed is Check.KIND
    assert verify(b"[" * size, SECRET.pubkey).failed is Check.UNPARSABLE


def quickly_and_slowly(source: Any) -> None:
    """Both ways to a verdict end in the same one, whatever the source."""
    verdict = verify(source, SECRET.pubkey)
    assert isinstance(verdict, Verdict)
    assert pickle.loads(pickle.dumps(verdict)) == verdict
    json.dumps(verdict.to_dict())
    assert all(reason and reason.isascii() and reason.isprintable() for reason in verdict.reasons)
    if verdict.failed is not Check.UNPARSABLE:
        assert verifier._judge(*read_fields(source), KEYS) == verdict


@given(st.data())
def test_no_repeated_key_is_hidden_by_other_spellings(data: st.DataObject) -> None:
    """Whatever is shortened, padded or escaped elsewhere, a key that occurs twice is seen, and only then."""
    username = data.draw(st.sampled_from(["alice", "ë" * 12, "🃏", 'a"b']))
    event = sign_score(SECRET, username=username, score=7, created_at=1_700_000_000).to_dict()
    pairs = [
        (json.dumps(name), json.dumps(value, ensure_ascii=data.draw(st.booleans())))
        for name, value in event.items()
    ]
    if repeated := data.draw(st.booleans()):
        name = data.draw(st.sampled_from([*event, "x"]))
        pairs.insert(0, (json.dumps(name), data.draw(st.sampled_from(["1", '""', "[]", '"\\""', "{}"]))))
    pairs = [
        (key, re.sub(r'\\"', lambda match: data.draw(st.sampled_from(['\\"', "\\u0022"])), value))
        for key, value in pairs
    ]
    colon = data.draw(st.sampled_from([":", ": "]))
    text = (
        "{"
        + data.draw(st.sampled_from([",", ", ", ",\n"])).join(key + colon + value for key, value in pairs)
        + "}"
    )
    quickly_and_slowly(text)
    extra = repeated and name == "x"
    assert verify(text, SECRET.pubkey).ok is (not repeated or extra)


USERNAMES = st.one_of(st.text(max_size=8), st.sampled_from(["alice", "İ", "Σ", '"', "\\", "\x00", "🃏"]))


@given(
    USERNAMES.filter(lambda text: text.isprintable() or True), st.integers(0, 120), st.integers(0, 2**53 - 1)
)
def test_the_quick_way_says_what_the_slow_way_says(username: str, score: int, created_at: int) -> None:
    try:
        event = sign_score(SECRET, username=username, score=score, created_at=created_at)
    except InvalidEvent:
        return  # a lone surrogate
    quickly_and_slowly(event.to_json())
    quickly_and_slowly(json.dumps(event.to_dict()))
    quickly_and_slowly(event.to_dict())
    assert verify(event.to_json(), SECRET.pubkey).ok
    assert verify(event.to_json(), SECRET.pubkey).consistent is bool(username)


ODD_VALUES = st.one_of(
    st.none(),
    st.booleans(),
    st.integers(),
    st.floats(),
    st.text(st.characters(), max_size=5),
    st.sampled_from(
        [KIND, float(KIND), GOOD.id, GOOD.sig, GOOD.content, SECRET.pubkey, "72", "alice", 1.7e9]
    ),
    st.lists(st.text(max_size=3), max_size=2),
)


@settings(max_examples=300)
@given(st.data())
def test_one_changed_field_never_raises_and_never_passes_unless_it_is_the_same(data: st.DataObject) -> None:
    fields = GOOD.to_dict()
    name = data.draw(st.sampled_from([*fields, "tags.tag", "tags.element"]))
    value = data.draw(ODD_VALUES)
    if name == "tags.tag":
        fields["tags"][data.draw(st.integers(0, 3))] = value
    elif name == "tags.element":
        fields["tags"][data.draw(st.integers(0, 3))][data.draw(st.integers(0, 1))] = value
    else:
        fields[name] = value
    quickly_and_slowly(fields)
    assert verify(fields, SECRET.pubkey).ok is (fields == GOOD.to_dict())


@given(st.one_of(texts, st.text(st.characters()), st.binary(max_size=60)))
def test_any_text_ends_in_a_verdict(source: str | bytes) -> None:
    quickly_and_slowly(source)


@given(texts)
def test_any_content_ends_in_a_verdict(content: str) -> None:
    quickly_and_slowly({**GOOD.to_dict(), "content": content})
    if content.isascii():
        quickly_and_slowly(json.dumps(signed(content=content)))


@given(st.integers(0, len(GOOD.to_json()) - 1), st.integers(0, 255))
def test_one_changed_byte_never_passes(place: int, byte: int) -> None:
    text = bytearray(GOOD.to_json().encode())
    same = text[place] == byte
    text[place] = byte
    quickly_and_slowly(bytes(text))
    assert verify(bytes(text), SECRET.pubkey).ok is same
