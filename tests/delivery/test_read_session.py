from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.delivery.judge import looks_right
from app.delivery.read_session import FRAME_LIMIT, PAGE_SECONDS, ReadSession, Received, as_received
from app.nostr.signature import record_holds

PUBKEY = "ab" * 32
WANTED = {"kinds": [31250, 5], "authors": [PUBKEY]}


def event(number: int, created_at: int = 0) -> dict[str, Any]:
    return {"id": f"{number:064x}", "pubkey": PUBKEY, "created_at": created_at or number, "kind": 31250}


@pytest.fixture
def session() -> ReadSession[Received]:
    session = ReadSession([WANTED], as_received, limit=1000, live=WANTED)
    session.open(100.0)
    return session


def sent(session: ReadSession[Received]) -> list[Any]:
    messages = [json.loads(text) for text in session.outgoing]
    session.outgoing.clear()
    return messages


def tell(session: ReadSession[Received], *messages: Any, now: float = 100.0) -> list[int]:
    """The numbers of the events that come out."""
    frames = [json.dumps(parts, separators=(",", ":")).encode() for parts in messages]
    stored, live = session.receive(frames, now)
    return [int(one.event_id, 16) for one in (*stored, *live)]


def test_it_follows_before_it_reads_what_is_stored(session: ReadSession[Received]) -> None:
    assert sent(session) == [
        ["REQ", "live", {**WANTED, "limit": 1}],
        ["REQ", "page1", {**WANTED, "limit": 5000}],
    ]
    assert session.reading
    assert tell(session, ["EVENT", "page1", event(9)], ["EVENT", "live", event(10)]) == [9, 10]
    assert tell(session, ["EOSE", "live"], ["EOSE", "page1"]) == []
    assert sent(session) == [["CLOSE", "page1"], ["REQ", "page2", {**WANTED, "limit": 5000, "until": 9}]]
    assert tell(session, ["EVENT", "page2", event(9)], ["EVENT", "page1", event(8)], ["EOSE", "page2"]) == []
    assert sent(session) == [["CLOSE", "page2"], ["REQ", "page3", {**WANTED, "limit": 5000, "until": 8}]]
    tell(session, ["EOSE", "page3"])
    assert sent(session) == [["CLOSE", "page3"]]
    assert (session.reading, session.reason, session.deadline) == (False, "", None)
    assert tell(session, ["EVENT", "live", event(11)], ["EVENT", "live", event(11)]) == [11, 11]
    assert session.ignored == 1


@pytest.mark.parametrize(
    "text",
    [
        '["EVENT","page1",{"id":"%s","pubkey":"%s","created_at":7,"kind":31250,"a":[{}]}]',
        '["EVENT", "page1", {"created_at": 7, "id": "%s", "pubkey": "%s", "a": [{}]}] ',
        '\n["EVENT","page1",\n{"id":"%s","pubkey":"%s",\n"created_at":7,"kind":31250}\n]',
    ],
)
def test_an_events_own_text_comes_out_however_the_message_is_written(
    session: ReadSession[Received], text: str
) -> None:
    text %= ("1" * 64, "ab" * 32)
    [received], _ = session.receive([text.encode()], 100.0)
    assert received[:2] == ("1" * 64, 7)
    assert received.text == text[text.index("{") : text.rindex("}") + 1].encode()


@pytest.mark.parametrize(
    "frame",
    [
        b'["EOSE"]',
        b'["EOSE","other"]',
        b'["EVENT","other",{"id":"x","created_at":1}]',
        json.dumps(["EVENT", "page2", event(1)]).encode(),
        json.dumps(["EVENT", "other", event(1)], separators=(",", ":")).encode(),
        b'["EVENT","page1",{"id":1,"created_at":1}]',
        b'["EVENT","page1",{"id":"x","created_at":true}]',
        b'["EVENT","page1",{"id":"x","created_at":-1}]',
        b'["EVENT","page1",{"id":"x","created_at":99999999999999999}]',
        b'["EVENT","page1"]',
        b'["CLOSED","other","error: no"]',
        b'["OK","x",true,""]',
        b'["NOTICE","x","y"]',
        b'["EVENT","page1",' + b'{"id":"' + b"x" * FRAME_LIMIT + b'","created_at":1}]',
        b"[" * 100_000,
        b"",
        b"\xff",
    ],
)
def test_what_means_nothing_is_counted_and_changes_nothing(
    session: ReadSession[Received], frame: bytes
) -> None:
    sent(session)
    assert session.receive([frame], 100.0) == ([], [])
    assert (session.ignored, session.outgoing, session.reading) == (1, [], True)


def test_a_page_without_an_end_is_given_up_when_it_brings_nothing_new(session: ReadSession[Received]) -> None:
    assert not session.expire(100.0 + PAGE_SECONDS - 0.1)
    tell(session, ["EVENT", "page1", event(1)], now=105.0)
    assert not session.expire(105.0 + PAGE_SECONDS - 0.1)
    tell(session, ["EVENT", "page1", event(1)], ["NOTICE", "go\naway"], now=114.0)
    assert session.deadline == 115.0
    assert session.expire(115.0)
    assert session.reason == "no end of the stored events within 10 s; the relay says: go away"
    assert not session.reading
    assert tell(session, ["EVENT", "page1", event(2)], ["EOSE", "page1"]) == []
    assert tell(session, ["EVENT", "live", event(3)]) == [3]
    assert not session.expire(1000.0)


@pytest.mark.parametrize("subscription", ["page1", "live"])
def test_closed_is_a_refusal(session: ReadSession[Received], subscription: str) -> None:
    tell(session, ["AUTH", "challenge"])
    assert session.reading, "a challenge alone asks for nothing"
    tell(session, ["CLOSED", subscription, "rate-limited: slow\ndown"])
    assert session.refused == "the relay refused: rate-limited: slow down"
    assert session.reason == session.refused
    assert not session.reading


def test_a_reader_has_no_key_to_authenticate_with(session: ReadSession[Received]) -> None:
    tell(session, ["CLOSED", "live", "auth-required: members only"])
    assert "a reader has no key (auth-required: members only)" in session.refused


def test_filters_in_turn_and_the_first_reason_stays() -> None:
    session = ReadSession([{"ids": ["1" * 64]}, {"ids": ["2" * 64]}], as_received, limit=1)
    session.open(0.0)
    assert sent(session) == [["REQ", "page1", {"ids": ["1" * 64], "limit": 5000}]]
    tell(session, ["EOSE", "page1"], now=1.0)
    assert sent(session)[1] == ["REQ", "page2", {"ids": ["2" * 64], "limit": 5000}]
    assert session.deadline == 1.0 + PAGE_SECONDS
    assert tell(session, ["EVENT", "page2", {**event(2), "id": "2" * 64}]) == [int("2" * 64, 16)]
    assert (session.reading, session.reason) == (False, "")


def test_an_event_of_no_use_is_read_once_and_counts_for_its_page() -> None:
    texts: list[bytes] = []
    session: ReadSession[Received] = ReadSession([{}], texts.append, limit=2)
    session.open(0.0)
    tell(session, ["EVENT", "page1", event(2)], ["EVENT", "page1", event(1)])
    assert [json.loads(text) for text in texts] == [event(2), event(1)]
    assert session.reason == "the relay sends more events than are taken"


def test_a_flood_of_stored_events_is_cut_off() -> None:
    session = ReadSession([{}], as_received, limit=3)
    session.open(0.0)
    numbers = tell(session, *(["EVENT", "page1", event(number)] for number in range(9, 0, -1)))
    assert numbers == [9, 8, 7]
    assert session.reason == "the relay sends more events than are taken"
    assert sent(session)[-1] == ["CLOSE", "page1"]
    assert session.ignored == 6


_VALUES = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=5) | st.just(PUBKEY),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner, max_size=3),
    max_leaves=5,
)
_EVENTS = st.fixed_dictionaries(
    {},
    optional={
        "id": _VALUES | st.just("a" * 64),
        "pubkey": _VALUES | st.just(PUBKEY),
        "created_at": _VALUES | st.integers(0, 2**60),
        "kind": _VALUES | st.sampled_from([5, 31250]),
        "tags": _VALUES
        | st.lists(st.lists(_VALUES | st.sampled_from(["d", "app", "a"]), max_size=2), max_size=3),
        "content": _VALUES,
        "sig": _VALUES | st.just("b" * 128),
        "more": _VALUES,
    },
)
_MESSAGES = st.tuples(
    st.sampled_from(["EVENT", "EOSE", "CLOSED", "NOTICE", "AUTH", "OK"]),
    st.sampled_from(["page1", "page2", "live"]) | _VALUES,
    _EVENTS | _VALUES,
)


@given(st.lists(_MESSAGES, max_size=6), st.booleans())
def test_nothing_that_a_relay_says_raises(messages: list[tuple[Any, ...]], compact: bool) -> None:
    keys = frozenset({PUBKEY})
    session = ReadSession([WANTED], lambda text: looks_right(text, keys), limit=3, live=WANTED)
    session.open(0.0)
    separators = (",", ":") if compact else None
    frames = [json.dumps(message, separators=separators).encode() for message in messages]
    stored, live = session.receive([*frames, *(frame[:-1] for frame in frames)], 1.0)
    assert not any(record_holds(candidate.record) for candidate in (*stored, *live))
