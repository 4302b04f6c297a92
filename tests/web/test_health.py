"""The probes tell the truth about process, store and clock; relays are shown and never fail them."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

from tests.relays.fake import FakeRelay
from tests.service import NOWHERE, running

if TYPE_CHECKING:
    from pathlib import Path

    import pytest

    from tests.service import Running


async def test_a_process_that_answers_is_alive(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        answer = await service.http.get("/healthz")
        assert (answer.status_code, answer.json()) == (200, {"status": "ok"})
        assert answer.headers["cache-control"] == "no-store"


async def test_ready_without_any_relay(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        answer = await service.http.get("/readyz")
        assert answer.status_code == 200
        assert answer.headers["cache-control"] == "no-store"
        document = answer.json()
        assert document["status"] == "ok"
        assert document["checks"] == {"store": "ok", "clock": "ok"}
        (relay,) = document["relays"]
        assert (relay["url"], relay["connected"]) == (NOWHERE, False)


async def test_relays_are_shown_as_they_are(tmp_path: Path) -> None:
    def greet(peer: object) -> None:
        peer.send("NOTICE", "closing for lunch")  # type: ignore[attr-defined]

    async with FakeRelay(on_open=greet) as relay, running(tmp_path, relay.url) as service:
        await service.post("alice", 72, Prefer="wait=10")
        (shown,) = (await service.http.get("/readyz")).json()["relays"]
        assert (shown["url"], shown["connected"]) == (relay.url, True)
        assert shown["last_message"] == "closing for lunch"


async def assert_not_ready(service: Running, fault: str) -> None:
    answer = await service.http.get("/readyz")
    assert (answer.status_code, answer.json()["status"]) == (503, "unavailable")
    assert fault in answer.json()["checks"]["store"]
    assert (await service.http.get("/healthz")).status_code == 200


async def test_not_ready_when_the_store_is_gone(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        service.path.unlink()
        await assert_not_ready(service, "deleted or replaced")


async def test_not_ready_while_the_store_takes_no_writes(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(tmp_path) as service:
        monkeypatch.setattr("app.store.sqlite._BUSY_SECONDS", 0)
        with closing(sqlite3.connect(service.path, isolation_level=None)) as other:
            other.execute("BEGIN IMMEDIATE")
            await assert_not_ready(service, "locked")
        assert (await service.http.get("/readyz")).status_code == 200
