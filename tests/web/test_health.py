"""The probes tell the truth about process, store and clock; relays are shown and never fail them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.relays.fake import FakeRelay
from tests.service import NOWHERE, running

if TYPE_CHECKING:
    from pathlib import Path


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


async def test_not_ready_when_the_store_is_gone(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        service.service.store._database.reader.dispose()
        service.path.unlink()
        answer = await service.http.get("/readyz")
        assert answer.status_code == 503
        assert answer.json()["status"] == "unavailable"
        assert answer.json()["checks"]["store"].startswith("the database does not")
        assert (await service.http.get("/healthz")).status_code == 200
