import json

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.nostr.nip11 import Limitation, NotInformation, information_url, parse_limitation


@pytest.mark.parametrize(
    ("relay", "url"),
    [
        ("wss://relay.example", "https://relay.example"),
        ("ws://127.0.0.1:7777/path?x=1", "http://127.0.0.1:7777/path?x=1"),
    ],
)
def test_the_document_stands_at_the_relays_own_address(relay: str, url: str) -> None:
    assert information_url(relay) == url


def test_the_limits_of_nip_11s_own_example() -> None:
    document = """{"name": "relay", "supported_nips": [1, 11], "limitation": {
        "max_message_length": 16384, "max_subscriptions": 300, "max_limit": 5000, "max_subid_length": 100,
        "max_event_tags": 100, "max_content_length": 8196, "min_pow_difficulty": 30, "auth_required": true,
        "payment_required": true, "restricted_writes": true, "created_at_lower_limit": 31536000,
        "created_at_upper_limit": 3, "default_limit": 500}}"""
    assert parse_limitation(document.encode()) == Limitation(
        max_message_length=16384,
        created_at_upper_limit=3,
        min_pow_difficulty=30,
        auth_required=True,
        payment_required=True,
    )


@pytest.mark.parametrize(
    "document",
    [
        "{}",
        '{"limitation": null}',
        '{"limitation": [1]}',
        '{"limitation": {"max_message_length": "16384", "created_at_upper_limit": -5}}',
        '{"limitation": {"max_message_length": 1e3, "min_pow_difficulty": true, "auth_required": 1}}',
        '{"limitation": {"created_at_upper_limit": 1e300, "payment_required": "yes"}}',
        '{"limitation": {"max_message_length": 9007199254740992, "min_pow_difficulty": null}}',
    ],
)
def test_nonsense_is_no_limit(document: str) -> None:
    assert parse_limitation(document.encode()) == Limitation()


@pytest.mark.parametrize("document", [b"", b"<html>", b"[]", b"null", b'"x"', b"\xff", b"[" * 50_000])
def test_what_is_no_document(document: bytes) -> None:
    with pytest.raises(NotInformation):
        parse_limitation(document)


_VALUES = st.recursive(st.none() | st.booleans() | st.integers() | st.text(), st.lists)


@given(_VALUES)
def test_whatever_a_limit_is_the_others_stand(value: object) -> None:
    document = {"limitation": {"max_message_length": value, "created_at_upper_limit": 60}}
    try:
        told = parse_limitation(json.dumps(document).encode())
    except NotInformation:
        assert abs(value) >= 2**63  # type: ignore[arg-type] - no other value is unreadable
    else:
        assert told.created_at_upper_limit == 60
