"""Deletions as NIP-09 has them."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import pytest
from nostr_sdk import Coordinate
from nostr_sdk import Event as SdkEvent

from app.nostr import nip09
from app.nostr.event import sign_event
from app.nostr.keys import SecretKey

if TYPE_CHECKING:
    from app.nostr.event import Event

SECRET = SecretKey.parse(f"{2:064x}")
# The x coordinate of twice the generator of secp256k1, from any table of its multiples.
PUBKEY = "c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5"


def deletion(d: str, created_at: int = 1_700_000_000) -> Event:
    return nip09.deletion_event(SECRET, kind=31250, d=d, created_at=created_at)


@pytest.mark.parametrize("d", ["alice", "zoë", "名前", "a.b-c_d"])
def test_a_deletion_names_the_address_and_the_kind(d: str) -> None:
    event = deletion(d).to_dict()
    assert event["kind"] == 5
    assert event["tags"] == [["a", f"31250:{PUBKEY}:{d}"], ["k", "31250"]]
    assert event["content"] == ""
    assert event["created_at"] == 1_700_000_000
    assert event["pubkey"] == PUBKEY


def test_another_implementation_reads_it() -> None:
    event = SdkEvent.from_json(deletion("zoë", int(time.time())).to_json())
    assert event.verify()
    assert event.kind().as_u16() == 5
    address, kind = event.tags()
    coordinate = Coordinate.parse(str(address.content()))
    assert coordinate.kind().as_u16() == 31250
    assert coordinate.public_key().to_hex() == PUBKEY
    assert coordinate.identifier() == "zoë"
    assert kind.to_vec() == ["k", "31250"]


def test_what_a_deletion_names() -> None:
    tags = [
        ["a", f"31250:{PUBKEY}:al:ice", "wss://relay"],
        ["a", f"31250:{PUBKEY}:"],
        ["e", "f" * 64],
        *(["a", text] for text in ("", "31250", f"31250:{PUBKEY}", f"x:{PUBKEY}:bob", "31250:beef:bob")),
        ["a"],
        ["e"],
        ["k", "31250"],
    ]
    event = sign_event(SECRET, created_at=1, kind=5, tags=tags, content="")
    assert nip09.targets(event) == ({(31250, PUBKEY, "al:ice"), (31250, PUBKEY, "")}, {"f" * 64})
