"""How the text of a setting becomes its value."""

from __future__ import annotations

import importlib.util
from ipaddress import IPv4Network, IPv6Network, ip_network
from urllib.parse import SplitResult, unquote, urlsplit

from limits import RateLimitItem, parse_many

from app.nostr.keys import parse_pubkey
from app.nostr.relay_url import InvalidRelayUrl, normalise_relay_url, shown_text

Network = IPv4Network | IPv6Network

_PORTS = {"http": 80, "https": 443}


def split(text: str) -> list[str]:
    """The parts between commas, without the blanks around them."""
    return [part for part in (part.strip() for part in text.split(",")) if part]


def public_keys(text: str) -> tuple[str, ...]:
    """Public keys (hex or npub) in hex, each once.

    Raises:
        ValueError: for a part that is none.
    """
    return tuple(dict.fromkeys(parse_pubkey(part) for part in split(text)))


def at_least_one_key(keys: tuple[str, ...]) -> tuple[str, ...]:
    """The keys themselves; ValueError if there are none."""
    if not keys:
        raise ValueError("names no key: give at least one, hex or npub")
    return keys


def relays(text: str) -> tuple[str, ...]:
    """Relay addresses in their one spelling, each once.

    Raises:
        ValueError: for a part that is none, or if there is none.
    """
    urls: list[str] = []
    for part in split(text):
        try:
            urls.append(normalise_relay_url(part))
        except InvalidRelayUrl as error:
            raise ValueError(f"{shown_text(part)!r} {error}") from None
    if not urls:
        raise ValueError("names no relay: give at least one, such as wss://relay.example")
    return tuple(dict.fromkeys(urls))


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
            _ = parts.port  # raises for a port that is none
        except ValueError:
            parts = urlsplit("")
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
        found.add(_origin(parts))
    return frozenset(found)


def _origin(parts: SplitResult) -> str:
    """Scheme, host and port as browsers write them: lower case, no default port."""
    host = parts.hostname or ""
    at = "" if parts.port in {None, _PORTS[parts.scheme]} else f":{parts.port}"
    return f"{parts.scheme}://[{host}]{at}" if ":" in host else f"{parts.scheme}://{host}{at}"


def public_url(text: str) -> str:
    """The address of the service as clients write it, without a `/` at the end.

    Raises:
        ValueError: for what is no http or https address, or carries more than a path.
    """
    wrong = ValueError("is no address: give one such as https://scores.example or https://example.org/scores")
    # It begins a header (Location), where only these characters may stand.
    if not text.isascii() or not text.isprintable() or set(text) & set(' "<>\\^`{|}'):
        raise wrong
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError:
        raise wrong from None
    if parts.scheme not in _PORTS or not parts.hostname or port == 0 or "?" in text or "#" in text:
        raise wrong
    if parts.username is not None:
        raise ValueError("carries a user name: drop it")
    # As browsers and libraries write it, because signed calls (NIP-98) are compared with it letter by letter.
    return f"{_origin(parts)}{parts.path}".rstrip("/")


def database_url(text: str) -> str:
    """The address of a database file, or of a PostgreSQL.

    Raises:
        ValueError: anything else; the text may hold a password and is not quoted.
    """
    # A driver would stop reading at a NUL, and make of the rest another address.
    if not unquote(text).isprintable():
        raise ValueError("holds a control character: give sqlite:///FILE or postgresql://…")
    if text.startswith(("postgresql://", "postgres://")):
        return _postgresql(text)
    file = text.removeprefix("sqlite:///")
    # A database in memory would be another one for every connection.
    if file in {text, "", ":memory:"} or file.startswith("file:") or "?" in file:
        raise ValueError("is no database that is supported here: give sqlite:///FILE or postgresql://…")
    return text


def _postgresql(text: str) -> str:
    try:
        parts = urlsplit(text)
        valid = parts.port != 0 and not parts.fragment
    except ValueError:
        valid = False
    if not valid:
        raise ValueError("is no address of a PostgreSQL: give one such as postgresql://user@host:5432/name")
    if importlib.util.find_spec("psycopg") is None:
        raise ValueError(
            "names a PostgreSQL, for which a package is missing: pip install 'briscola-scores[postgres]'"
        )
    return text


def switch(text: str) -> bool:
    """Whether the text is 1; ValueError unless it is 1 or 0."""
    if text not in {"0", "1"}:
        raise ValueError("is neither 1 nor 0")
    return text == "1"
