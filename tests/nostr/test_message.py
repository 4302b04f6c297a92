import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.nostr.message import (
    AuthChallenge,
    Closed,
    Eose,
    EventMessage,
    NotAMessage,
    Notice,
    Ok,
    auth_message,
    close_message,
    event_message,
    parse_relay_message,
    req_message,
    split_prefix,
)

# The examples of NIP-01 and NIP-42, word for word.
OK_ID = "b1a649ebe8b435ec71d3784793f3bbf4b93e64e17568a741aecd4c7ddeafce30"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        (f'["OK", "{OK_ID}", true, ""]', Ok(OK_ID, True, "")),
        (f'["OK", "{OK_ID}", false, "blocked: no"]', Ok(OK_ID, False, "blocked: no")),
        ('["EOSE", "sub1"]', Eose("sub1")),
        ('["CLOSED", "sub1", "error: shutting down"]', Closed("sub1", "error: shutting down")),
        ('["NOTICE", "hello"]', Notice("hello")),
        ('["AUTH", "challengestring"]', AuthChallenge("challengestring")),
        ('["EVENT", "sub1", {"id": "00"}]', EventMessage("sub1", {"id": "00"})),
    ],
)
def test_every_message_of_a_relay(text: str, expected: object) -> None:
    assert parse_relay_message(text) == expected
    assert parse_relay_message(text.encode()) == expected
    assert parse_relay_message(bytearray(text.encode())) == expected


@pytest.mark.parametrize(
    "text",
    [
        "",
        "{",
        "[]",
        "{}",
        "null",
        "1",
        '"OK"',
        "[" * 10_000,
        "[" * 500 + "]" * 500,
        "[1" + "0" * 5_000 + "]",
        '["OK"]',
        f'["OK","{OK_ID}","true",""]',
        f'["OK","{OK_ID}",1,""]',
        f'["OK","{OK_ID}",null,""]',
        f'["OK","{OK_ID}",true]',
        f'["OK","{OK_ID}",true,"",""]',
        f'["OK","{OK_ID}",true,null]',
        '["OK",null,true,""]',
        f'["ok","{OK_ID}",true,""]',
        '["EVENT",{"id":"00"}]',
        '["EVENT","sub1",[]]',
        '["EOSE"]',
        '["NOTICE",1]',
        '["AUTH"]',
        '["COUNT","sub1",{"count":1}]',
        '[["OK"]]',
    ],
)
def test_anything_else_is_no_message(text: str) -> None:
    assert isinstance(parse_relay_message(text), NotAMessage)


def test_invalid_utf8_is_no_message() -> None:
    assert isinstance(parse_relay_message(b'["NOTICE","\xff"]'), NotAMessage)


@given(st.binary() | st.text())
def test_nothing_makes_it_raise(frame: bytes | str) -> None:
    parse_relay_message(frame)


json_values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(), lambda inner: st.lists(inner), max_leaves=5
)


@given(st.lists(json_values, max_size=5).map(lambda parts: ["OK", *parts]))
def test_ok_counts_only_in_its_exact_shape(parts: list[object]) -> None:
    message = parse_relay_message(json.dumps(parts))
    exact = [type(part) for part in parts] == [str, str, bool, str]
    assert isinstance(message, Ok) is exact


def test_what_a_client_sends() -> None:
    event = '{"id": "00",  "content":"as it is"}'
    assert event_message(event) == f'["EVENT",{event}]'
    assert auth_message(event) == f'["AUTH",{event}]'
    assert json.loads(req_message("s", {"ids": ["00"]}, {"#d": ["é"]})) == [
        "REQ",
        "s",
        {"ids": ["00"]},
        {"#d": ["é"]},
    ]
    assert json.loads(close_message('"')) == ["CLOSE", '"']


@pytest.mark.parametrize(
    ("message", "parts"),
    [
        ("duplicate: already have this event", ("duplicate", "already have this event")),
        ("rate-limited: slow down", ("rate-limited", "slow down")),
        ("pow:26", ("pow", "26")),
        ("error:", ("error", "")),
        ("duplicate", ("", "duplicate")),
        ("Duplicate: x", ("", "Duplicate: x")),
        (" duplicate: x", ("", " duplicate: x")),
        ("no: way: out", ("no", "way: out")),
        ("", ("", "")),
    ],
)
def test_the_machine_readable_prefix(message: str, parts: tuple[str, str]) -> None:
    assert split_prefix(message) == parts
