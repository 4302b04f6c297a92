"""Where a call comes from."""

from __future__ import annotations

from ipaddress import ip_network
from typing import Any

import pytest

from app.web.origin import Origins

PROXIES = (ip_network("10.0.0.0/8"), ip_network("2001:db8:1::/48"), ip_network("127.0.0.1"))


def scope(peer: str | None, *forwarded: str) -> dict[str, Any]:
    headers = [(b"x-forwarded-for", value.encode("latin-1")) for value in forwarded]
    return {"client": (peer, 1234) if peer else None, "headers": headers}


@pytest.mark.parametrize(
    ("peer", "forwarded", "origin"),
    [
        ("203.0.113.9", [], "203.0.113.9"),
        ("203.0.113.9", ["1.1.1.1"], "203.0.113.9"),  # a stranger's word
        ("10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.1", ["198.51.100.7"], "198.51.100.7"),
        ("10.0.0.1", ["1.1.1.1, 198.51.100.7"], "198.51.100.7"),  # the left one is the client's invention
        ("10.0.0.1", ["1.1.1.1", "198.51.100.7"], "198.51.100.7"),
        ("10.0.0.1", ["198.51.100.7, 10.9.9.9"], "198.51.100.7"),
        ("10.0.0.1", ["198.51.100.7,10.9.9.9 ,  127.0.0.1"], "198.51.100.7"),
        ("10.0.0.1", ["10.9.9.9, 10.8.8.8"], "10.9.9.9"),  # nobody but proxies
        ("10.0.0.1", ["198.51.100.7, rubbish"], "10.0.0.1"),
        ("10.0.0.1", ["rubbish, 198.51.100.7"], "198.51.100.7"),
        ("10.0.0.1", [""], "10.0.0.1"),
        ("10.0.0.1", ["\xff\xfe"], "10.0.0.1"),
        ("10.0.0.1", ["198.51.100.7:4711"], "198.51.100.7"),
        ("10.0.0.1", ["[2001:db8:2::7]:4711"], "2001:db8:2::/64"),
        ("10.0.0.1", ["2001:db8:2:0:1:2:3:4"], "2001:db8:2::/64"),
        ("10.0.0.1", ["::ffff:198.51.100.7"], "198.51.100.7"),
        ("::ffff:10.0.0.1", ["198.51.100.7"], "198.51.100.7"),
        ("2001:db8:1::5", ["198.51.100.7"], "198.51.100.7"),
        ("2001:db8:3::5", ["198.51.100.7"], "2001:db8:3::/64"),
        (None, ["198.51.100.7"], "198.51.100.7"),  # a Unix socket
        (None, [], "local"),
    ],
)
def test_the_origin_is_the_last_hop_that_no_proxy_of_ours_is(
    peer: str | None, forwarded: list[str], origin: str
) -> None:
    assert Origins(PROXIES).of(scope(peer, *forwarded)) == origin


@pytest.mark.parametrize(
    ("peer", "origin"),
    [
        ("203.0.113.9", "203.0.113.9"),
        ("::ffff:203.0.113.9", "203.0.113.9"),
        ("2001:db8::1", "2001:db8::/64"),
        ("2001:db8::ffff:0:0:1", "2001:db8::/64"),
        ("2001:db8:0:1::1", "2001:db8:0:1::/64"),
        ("fe80::1%eth0", "fe80::/64"),
        (None, "local"),
    ],
)
def test_without_proxies_nobody_is_believed(peer: str | None, origin: str) -> None:
    assert Origins().of(scope(peer, "198.51.100.7")) == origin


def test_a_proxy_is_told_by_its_address() -> None:
    assert Origins(PROXIES).trusts("10.1.2.3")
    assert not Origins(PROXIES).trusts("11.1.2.3")
    assert not Origins(PROXIES).trusts("")
