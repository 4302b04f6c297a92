"""How the text of a setting becomes its value, for what guards the door."""

from __future__ import annotations

import importlib.util
from ipaddress import IPv4Network, IPv6Network, ip_network
from urllib.parse import urlsplit

from limits import RateLimitItem, parse_many

Network = IPv4Network | IPv6Network

_PORTS = {"http": 80, "https": 443}


def split(text: str) -> list[str]:
    """The parts between commas, without the blanks around them."""
    return [part for part in (part.strip() for part in text.split(",")) if part]


def rates(text: str) -> tuple[RateLimitItem, ...]:
    """Rates in the notation of `limits`, such as `60/minute` or `10/second;1000/day`; none for `off`.

    Raises:
        ValueError: anything else.
    """
    if text.lower() == "off":
        return ()
    try:
        parsed = tuple(parse_many(text))
    except ValueError:
        parsed = ()
    if not parsed or any(rate.amount < 1 or rate.multiples < 1 for rate in parsed):
        raise ValueError("is no rate: give one such as 60/minute, several as 10/second;1000/day, or off")
    return parsed


def rate(text: str) -> str:
    """The text itself, if `rates` can read it."""
    rates(text)
    return text


def storage(text: str) -> str:
    """Where calls are counted: `memory`, or the address of a Redis.

    Raises:
        ValueError: anything else; the text may hold a password and is not quoted.
    """
    if text in {"memory", "memory://"}:
        return "memory"
    try:
        parts = urlsplit(text)
        valid = parts.scheme in {"redis", "rediss"} and bool(parts.hostname) and parts.port != 0
    except ValueError:
        valid = False
    if not valid:
        raise ValueError(
            "is neither memory nor the address of a Redis: give one such as redis://localhost:6379"
        )
    if importlib.util.find_spec("redis") is None:
        raise ValueError(
            "names a Redis, for which a package is missing: pip install 'briscola-scores[redis]'"
        )
    return text


def networks(text: str) -> tuple[Network, ...]:
    """Addresses and CIDR ranges.

    Raises:
        ValueError: for a part that is neither.
    """
    found = []
    for part in split(text):
        try:
            found.append(ip_network(part))
        except ValueError:
            raise ValueError(
                f"{part!r} is neither an address nor a range: give such as 10.0.0.7 or 10.0.0.0/8"
            ) from None
    return tuple(found)


def origins(text: str) -> frozenset[str]:
    """Origins as browsers send them (RFC 6454): lower case, no default port.

    Raises:
        ValueError: for a part that is no single origin.
    """
    found = set()
    for part in split(text):
        try:
            parts = urlsplit(part)
            port = parts.port
        except ValueError:
            parts, port = urlsplit(""), None
        if part == "*":
            raise ValueError("* would let every site post for its visitors: name each origin")
        if (
            parts.scheme not in _PORTS
            or not parts.hostname
            or "*" in parts.hostname
            or parts.username is not None
            or parts.path not in {"", "/"}
            or parts.query
            or parts.fragment
        ):
            raise ValueError(f"{part.rpartition('@')[2]!r} is no origin: give such as https://game.example")
        host = f"[{parts.hostname}]" if ":" in parts.hostname else parts.hostname
        suffix = "" if port in {None, _PORTS[parts.scheme]} else f":{port}"
        found.add(f"{parts.scheme}://{host}{suffix}")
    return frozenset(found)
