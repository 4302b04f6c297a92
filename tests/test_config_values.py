"""How the text of a setting becomes its value."""

from __future__ import annotations

from ipaddress import ip_network

import pytest
from limits import RateLimitItemPerDay, RateLimitItemPerMinute, RateLimitItemPerSecond

from app import config_values as values


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("60/minute", (RateLimitItemPerMinute(60),)),
        ("60 per minute", (RateLimitItemPerMinute(60),)),
        ("10/second;1000/day", (RateLimitItemPerSecond(10), RateLimitItemPerDay(1000))),
        ("5/10 seconds", (RateLimitItemPerSecond(5, 10),)),
        ("off", ()),
        ("OFF", ()),
    ],
)
def test_rates(text: str, expected: tuple[object, ...]) -> None:
    assert values.rates(text) == expected
    assert values.rate(text) == text


@pytest.mark.parametrize("text", ["", "60", "60/fortnight", "minute", "0/minute", "-1/minute", "x/s"])
def test_what_is_no_rate(text: str) -> None:
    with pytest.raises(ValueError, match="is no rate: give one such as 60/minute"):
        values.rate(text)


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("memory", "memory"),
        ("memory://", "memory"),
        ("redis://localhost:6379/0", "redis://localhost:6379/0"),
        ("rediss://u:p@redis.example", "rediss://u:p@redis.example"),
    ],
)
def test_storage(text: str, expected: str) -> None:
    assert values.storage(text) == expected


@pytest.mark.parametrize(
    "text", ["redis", "redis://", "http://:hunter2@x", "memcached://hunter2", "redis://x:hunter2"]
)
def test_what_is_no_storage_is_not_quoted(text: str) -> None:
    with pytest.raises(ValueError, match="neither memory nor the address of a Redis") as refused:
        values.storage(text)
    assert "hunter2" not in str(refused.value)


def test_a_missing_package_is_named(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("importlib.util.find_spec", lambda _name: None)
    with pytest.raises(ValueError, match=r"pip install 'briscola-scores\[redis\]'"):
        values.storage("redis://localhost")


def test_networks() -> None:
    found = values.networks("10.0.0.0/8, 192.0.2.7,2001:db8::/32,,::1")
    assert found == tuple(map(ip_network, ["10.0.0.0/8", "192.0.2.7/32", "2001:db8::/32", "::1/128"]))


@pytest.mark.parametrize("text", ["10.0.0.1/8", "proxy.example", "10.0.0", "10.0.0.0/33", "*"])
def test_what_is_no_network(text: str) -> None:
    with pytest.raises(ValueError, match="is neither an address nor a range"):
        values.networks(f"127.0.0.1,{text}")


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("https://game.example", {"https://game.example"}),
        ("https://game.example/", {"https://game.example"}),
        ("HTTPS://Game.Example:443", {"https://game.example"}),
        (
            "http://localhost:5173, https://b.example:8443",
            {"http://localhost:5173", "https://b.example:8443"},
        ),
        ("http://[::1]:80", {"http://[::1]"}),
        ("http://game.example:443", {"http://game.example:443"}),
    ],
)
def test_origins(text: str, expected: set[str]) -> None:
    assert values.origins(text) == expected


@pytest.mark.parametrize(
    "text",
    [
        "*",
        "null",
        "game.example",
        "https://",
        "https://game.example/play",
        "https://game.example?x",
        "https://u:p@game.example",
        "wss://game.example",
        "https://game.example:x",
        "https://*.example",
    ],
)
def test_what_is_no_origin(text: str) -> None:
    with pytest.raises(ValueError, match=r"name each origin|is no origin"):
        values.origins(text)
