"""The address that NIP-05 names, read as a Nostr client reads it."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.service import NOWHERE, PUBKEY, running

if TYPE_CHECKING:
    from pathlib import Path


@pytest.mark.parametrize("query", ["", "?name=_"])
async def test_the_app_is_the_domain_itself(tmp_path: Path, query: str) -> None:
    async with running(tmp_path) as service:
        del service.http.headers["authorization"]
        answer = await service.http.get(f"/.well-known/nostr.json{query}")
    assert answer.status_code == 200
    assert answer.headers["access-control-allow-origin"] == "*", "NIP-05 demands it"
    assert answer.headers["content-type"] == "application/json"
    assert answer.json() == {"names": {"_": PUBKEY}, "relays": {PUBKEY: [NOWHERE]}}


@pytest.mark.parametrize("query", ["?name=alice", "?name=", "?name=%00", "?name=alice&name=bob"])
async def test_players_have_no_name_here(tmp_path: Path, query: str) -> None:
    async with running(tmp_path) as service:
        answer = await service.http.get(f"/.well-known/nostr.json{query}")
    assert answer.json() == {"names": {}, "relays": {}}
