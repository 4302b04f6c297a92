"""Where a call comes from: the peer's address, or what trusted proxies say in X-Forwarded-For."""

from __future__ import annotations

from functools import lru_cache
from ipaddress import IPv4Address, IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from starlette.types import Scope

Network = IPv4Network | IPv6Network
Address = IPv4Address | IPv6Address

# One subscriber holds a whole /64 of IPv6 (RFC 6177), so it counts as one origin.
_V6_PREFIX = 64


class Origins:
    """Tells the origin of calls.

    X-Forwarded-For is read from the right, hop by hop, for as long as the hop that reported the next one is
    trusted: what stands further left could have been written by anybody.

    Args:
        trusted: the proxies whose word is taken.
    """

    def __init__(self, trusted: tuple[Network, ...] = ()) -> None:
        self._trusted = trusted

    def trusts(self, host: str) -> bool:
        """Whether this address is one of our proxies."""
        address = parse_address(host)
        return address is not None and self._trusts(address)

    def _trusts(self, address: Address) -> bool:
        return any(address in network for network in self._trusted)

    def of(self, scope: Scope) -> str:
        """The origin of a call: an IPv4 address, an IPv6 /64, or `local` behind a Unix socket."""
        client = scope["client"]
        if not self._trusted:
            return _origin(client[0]) if client else "local"
        address = parse_address(client[0]) if client else None
        for hop in reversed(_forwarded_for(scope)):
            # A peer without an address is a Unix socket, which only a proxy on this machine can use.
            if address is not None and not self._trusts(address):
                break
            parsed = parse_address(hop)
            if parsed is None:
                break
            address = parsed
        return _group(address) if address is not None else "local"


def _forwarded_for(scope: Scope) -> list[str]:
    values = [value for name, value in scope["headers"] if name == b"x-forwarded-for"]
    return [hop.strip() for hop in b",".join(values).decode("latin-1").split(",")]


def parse_address(text: str) -> Address | None:
    """An address as proxies write it: `192.0.2.1`, `192.0.2.1:80`, `2001:db8::1` or `[2001:db8::1]:80`."""
    if text.startswith("["):
        text = text[1:].partition("]")[0]
    elif text.count(":") == 1:
        text = text.partition(":")[0]
    try:
        address = ip_address(text.partition("%")[0])
    except ValueError:
        return None
    mapped = address.ipv4_mapped if isinstance(address, IPv6Address) else None
    return mapped or address


@lru_cache(maxsize=4096)
def _origin(host: str) -> str:
    address = parse_address(host)
    return _group(address) if address is not None else "local"


def _group(address: Address) -> str:
    if isinstance(address, IPv4Address):
        return str(address)
    return str(ip_network((address, _V6_PREFIX), strict=False))
