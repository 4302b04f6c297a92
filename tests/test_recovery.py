"""A fresh store begins where the relays are, whatever they hold and however they behave."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from nostr_sdk import Keys

from tests.relays import real
from tests.relays.events import signed_event
from tests.relays.fake import FakeRelay, nothing, store
from tests.service import NOWHERE, SECRET, rows, running

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

OURS = Keys.parse(SECRET)
THEIRS = Keys.parse(f"{5:064x}")


def event(name: str, score: int, created_at: int, keys: Keys = OURS) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(signed_event(keys, name, score, created_at))
    return found


def holding(*events: dict[str, Any], **script: Any) -> FakeRelay:
    return FakeRelay(stored={one["id"]: one for one in events}, **script)


async def test_a_lost_database_goes_on_from_what_the_relays_hold(tmp_path: Path) -> None:
    now = int(time.time())
    ahead = event("Alice", 110, now + 30)
    forged = event("alice", 120, now + 50) | {"sig": ahead["sig"]}
    relay = holding(
        *(forged, ahead, event("alice", 1, now - 50), event("bob", 7, now - 99)),
        *(event("alice", 2, now + 40, THEIRS), event("carol", 120, now + 3_000_000)),
    )
    async with relay, running(tmp_path, relay.url, NOWHERE) as service:
        shown = (await service.http.get("/v1/players/alice")).json()
        assert (shown["event"], shown["state"]) == (ahead, "accepted")
        assert shown["relays"] == [
            {
                "url": relay.url,
                "state": "accepted",
                "message": "read back: the relay holds it",
                "attempts": 0,
            }
        ]
        posted = (await service.post("alice", 72)).json()
        assert posted["event"]["created_at"] == now + 31
        assert (await service.post("carol", 1)).status_code == 201, "a far future does not block a name"
        first, second = (await service.http.get("/readyz")).json()["relays"]
        assert first["concerns"] == []
        assert "could not be read before the new store began" in second["concerns"][0]
        assert rows(service.path, "SELECT d FROM event ORDER BY d") == [
            *(("alice",), ("alice",), ("bob",), ("carol",)),
        ]


async def test_a_store_that_is_not_new_asks_nothing(tmp_path: Path) -> None:
    async with FakeRelay() as relay:
        async with running(tmp_path, relay.url) as service:
            await service.post("alice", 72, Prefer="wait=10")
        asked = len(relay.reqs)
        assert asked > 0
        async with running(tmp_path, relay.url) as service:
            await service.post("alice", 73, Prefer="wait=10")
            assert len(relay.reqs) == asked


async def test_a_relay_that_does_not_answer_costs_bounded_time_and_is_named(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.recovery.READ_SECONDS", 0.5)
    async with FakeRelay(on_req=nothing) as silent, running(tmp_path, silent.url) as service:
        (shown,) = (await service.http.get("/readyz")).json()["relays"]
        assert "not read whole before the new store began" in shown["concerns"][0]
        assert (await service.post("alice", 72)).status_code == 201


async def test_a_restored_backup_finds_the_conflict_and_goes_on(tmp_path: Path) -> None:
    """The relay is away while the new store begins, and holds a newer score."""
    now = int(time.time())
    newer = event("alice", 99, now + 20)

    def replaced(peer: Any, posted: dict[str, Any]) -> None:
        if posted["created_at"] < newer["created_at"]:
            peer.send("OK", posted["id"], False, "replaced: have newer event")
        else:
            store(peer, posted)

    relay = holding(newer, on_event=replaced, on_accept=lambda peer: peer.reset())
    async with relay, running(tmp_path, relay.url) as service:
        relay.on_accept = nothing
        lost = (await service.post("alice", 72, Prefer="wait=30")).json()
        assert lost["state"] == "superseded"
        assert lost["relays"][0]["state"] == "conflict"
        assert f"superseded there by {newer['id']}" in lost["relays"][0]["message"]
        assert (await service.http.get("/v1/players/alice")).json()["event"] == newer
        after = (await service.post("alice", 80, Prefer="wait=30")).json()
        assert after["event"]["created_at"] == now + 21
        assert after["state"] == "accepted"


async def test_a_real_relay_is_read(tmp_path: Path) -> None:
    async with real.rust_relay() as url:
        old, new = tmp_path / "old", tmp_path / "new"
        old.mkdir()
        new.mkdir()
        async with running(old, url) as service:
            for name in ("alice", "bob"):
                assert (await service.post(name, 72, Prefer="wait=20")).json()["state"] == "accepted"
            answer = await service.http.post("/v1/scores", json={"username": "bob", "score": 9})
            assert answer.status_code == 201
        async with running(new, url) as service:
            known = rows(service.path, "SELECT d, kind FROM event ORDER BY d")
            assert known == [("alice", 31250), ("bob", 31250)]
            again = (await service.post("bob", 3, Prefer="wait=20")).json()
            assert again["event"]["created_at"] > answer.json()["event"]["created_at"]
            assert again["state"] == "accepted"
