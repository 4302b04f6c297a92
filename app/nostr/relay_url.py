"""Relay addresses in one spelling (NIP-01 speaks of websocket URLs; RFC 3986 of equal ones)."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable

_SCHEMES = {"wss": "wss", "ws": "ws", "https": "wss", "http": "ws"}
_DEFAULT_PORTS = {"wss": 443, "ws": 80}


class InvalidRelayUrl(ValueError):
    """No relay can stand at this address; the message says why."""


def normalise_relay_url(text: str) -> str:
    """Return the one spelling of a relay's address.

    `https` becomes `wss`, `http` becomes `ws`, a bare host gets `wss://`; the host is lower-cased, a default
    port and a trailing `/` are dropped, the path and query are kept.

    Raises:
        InvalidRelayUrl: for anything that is no websocket address, or carries a password or a fragment.
    """
    text = text.strip()
    if not text:
        raise InvalidRelayUrl("is empty: give a relay such as wss://relay.example")
    if any(c.isspace() or not c.isprintable() for c in text):
        raise InvalidRelayUrl("contains white space or a control character")
    scheme, separator, _ = text.partition("://")
    if not separator:
        text = f"wss://{text}"
    elif scheme.lower() not in _SCHEMES:
        raise InvalidRelayUrl(f"has the scheme {scheme[:20]!r}: use wss:// or ws://")
    try:
        parts = urlsplit(text)
        port = parts.port
    except ValueError as error:
        raise InvalidRelayUrl(f"is no address: {error}") from None
    if parts.username is not None or parts.password is not None:
        raise InvalidRelayUrl("carries a user name or password: relays take none")
    if parts.fragment:
        raise InvalidRelayUrl("carries a fragment (#…): drop it")
    if not parts.hostname:
        raise InvalidRelayUrl("names no host: give a relay such as wss://relay.example")
    try:
        host = parts.hostname.encode("idna").decode() if not parts.hostname.isascii() else parts.hostname
    except UnicodeError:
        raise InvalidRelayUrl("names a host that is no domain name") from None
    if not all(c.isalnum() or c in "-._:%" for c in host):
        raise InvalidRelayUrl("names a host that is no domain name")
    if port == 0:
        raise InvalidRelayUrl("has port 0: give 1 to 65535, or none")
    scheme = _SCHEMES[parts.scheme]
    where = f"[{host}]" if ":" in host else host
    if port is not None and port != _DEFAULT_PORTS[scheme]:
        where += f":{port}"
    query = f"?{parts.query}" if parts.query else ""
    return f"{scheme}://{where}{parts.path.rstrip('/')}{query}"


def public_relay_url(url: str) -> str:
    """What anybody may see of a relay's normalised URL: no query, which may hold a token."""
    return url.partition("?")[0]


def shown_text(text: str) -> str:
    """What anybody may see of a text that may be no relay's URL: neither a query nor a password."""
    return public_relay_url(text).rpartition("@")[2]


def relays_shown_as(url: str, known: Collection[str]) -> list[str]:
    """The relay with this very URL, or else those that are shown under it."""
    return [url] if url in known else [one for one in known if public_relay_url(one) == url]


def numbered_relay_urls(urls: Iterable[str]) -> dict[str, str]:
    """What may be shown of each relay's URL, numbered where they differ in their query alone."""
    shown: dict[str, str] = {}
    times: Counter[str] = Counter()
    for url in urls:
        name = public_relay_url(url)
        times[name] += 1
        shown[url] = name if times[name] == 1 else f"{name} ({times[name]})"
    return shown
