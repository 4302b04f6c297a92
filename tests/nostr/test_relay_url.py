import pytest

from app.nostr.relay_url import (
    InvalidRelayUrl,
    normalise_relay_url,
    numbered_relay_urls,
    public_relay_url,
    relays_shown_as,
    shown_text,
)

SPELLINGS = {
    "wss://relay.example": "wss://relay.example",
    "wss://relay.example/": "wss://relay.example",
    " wss://Relay.EXAMPLE:443/ ": "wss://relay.example",
    "relay.example": "wss://relay.example",
    "relay.example:7777": "wss://relay.example:7777",
    "localhost:8080/nostr/": "wss://localhost:8080/nostr",
    "https://relay.example/Path": "wss://relay.example/Path",
    "HTTP://127.0.0.1:80": "ws://127.0.0.1",
    "ws://127.0.0.1:443": "ws://127.0.0.1:443",
    "ws://[::1]:7000/": "ws://[::1]:7000",
    "wss://relay.example/a?b=C": "wss://relay.example/a?b=C",
    "wss://bücher.example": "wss://xn--bcher-kva.example",
}

FAULTS = [
    "", "   ", "ftp://relay.example", "file:///etc/passwd", "wss://", "wss:///path", "ws://host:port", "ws://host:0",
    "ws://host:65536", "wss://user:secret@relay.example", "wss://relay.example#top", "wss://re lay.example",
    "wss://relay.example\n.evil", "wss://[::1", "javascript:alert(1)", "wss://a<b>.example", "://relay.example",
]  # fmt: skip


@pytest.mark.parametrize("text", SPELLINGS)
def test_one_spelling(text):
    assert normalise_relay_url(text) == SPELLINGS[text]
    assert normalise_relay_url(SPELLINGS[text]) == SPELLINGS[text]


@pytest.mark.parametrize("text", FAULTS)
def test_anything_else_is_refused_without_quoting_a_password(text):
    with pytest.raises(InvalidRelayUrl) as caught:
        normalise_relay_url(text)
    assert "secret" not in str(caught.value)


def test_what_may_be_shown_holds_no_query_and_no_password():
    assert public_relay_url("wss://a.example/path?token=x?y") == "wss://a.example/path"
    assert shown_text("ftp://me:password@a.example/path?token=x") == "a.example/path"
    assert shown_text("a.example?token=x@y") == "a.example"


def test_a_relay_is_named_as_it_is_shown():
    known = ["wss://a.example", "wss://b.example?x", "wss://b.example?y", "wss://c.example?z"]
    assert relays_shown_as("wss://a.example", known) == ["wss://a.example"]
    assert relays_shown_as("wss://b.example", known) == ["wss://b.example?x", "wss://b.example?y"]
    assert relays_shown_as("wss://b.example?y", known) == ["wss://b.example?y"]
    assert relays_shown_as("wss://c.example?other", known) == []


def test_relays_that_are_shown_alike_are_numbered():
    urls = ["wss://a.example", "wss://a.example?token=x", "wss://a.example?token=y", "wss://b.example/path?z"]
    assert numbered_relay_urls(urls) == {
        "wss://a.example": "wss://a.example",
        "wss://a.example?token=x": "wss://a.example (2)",
        "wss://a.example?token=y": "wss://a.example (3)",
        "wss://b.example/path?z": "wss://b.example/path",
    }
