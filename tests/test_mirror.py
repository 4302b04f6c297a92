"""A mirror of somebody's scores, read from real relays: no secret, no database, nothing to write."""

from __future__ import annotations

import re
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import httpx
from nostr_sdk import Keys

from app.config import MirrorSettings
from app.environment import load
from app.mirror import open_mirror
from tests.relays.events import publish, signed_event
from tests.service import NOWHERE, PUBLIC_URL, assert_problem

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

OWNER, OLDER, STRANGER = Keys.generate(), Keys.generate(), Keys.generate()


def hex_of(keys: Keys) -> str:
    return str(keys.public_key().to_hex())


@asynccontextmanager
async def mirroring(*relays: str, keys: tuple[Keys, ...] = (OWNER,)) -> AsyncIterator[httpx.AsyncClient]:
    environ = {
        "BRISCOLA_PUBLIC_KEYS": ",".join(map(hex_of, keys)),
        "BRISCOLA_RELAYS": ",".join(relays),
    }
    async with open_mirror(load(MirrorSettings, environ)[0]) as mirror:
        transport = httpx.ASGITransport(mirror.app(PUBLIC_URL))
        async with httpx.AsyncClient(transport=transport, base_url=PUBLIC_URL) as http:
            yield http


async def test_it_shows_what_the_owner_signed_and_nothing_else(rust_relay: str) -> None:
    await publish(
        rust_relay,
        signed_event(OLDER, "anna", 50, 1_700_000_000),
        signed_event(OLDER, "carla", 40, 1_700_000_000),
        signed_event(OWNER, "Anna", 72, 1_700_000_001),
        signed_event(STRANGER, "Mallory", 120, 1_700_000_002),
    )
    async with mirroring(rust_relay, keys=(OWNER, OLDER)) as http:
        document = (await http.get("/v1/leaderboard")).json()
        protocol = (await http.get("/v1/protocol")).json()
        page = (await http.get("/")).text
        found = await http.get("/protocol", params={"player": "anna"})
        checked = await http.post("/protocol/check", data={"event": document["entries"][0]["event_id"]})
        ready = await http.get("/readyz")
    assert [(e["rank"], e["username"], e["score"]) for e in document["entries"]] == [
        (1, "Anna", 72),
        (2, "carla", 40),
    ]
    assert document["complete"] is True
    assert protocol["pubkey"] == hex_of(OWNER)
    assert set(protocol["public_keys"]) == {hex_of(OWNER), hex_of(OLDER)}
    assert protocol["policy"] is None
    assert re.findall(r'<bdi data-field="username"[^>]*>(\w+)</bdi>', page) == ["Anna", "carla"]
    assert "All five checks pass." in found.text
    assert "This is no event." in checked.text
    assert ready.status_code == 200
    assert ready.json()["checks"] == {"board": "ok"}


async def test_it_writes_nothing_and_says_so() -> None:
    async with mirroring(NOWHERE) as http:
        for method, path in (("POST", "/v1/scores"), ("DELETE", "/v1/players/anna/score"), ("PUT", "/")):
            answer = await http.request(method, path, headers={"Authorization": "Bearer bsk_1_x"})
            assert "read-only mirror" in assert_problem(answer, 405, "method-not-allowed")["detail"]
        for path in ("/v1/scores/" + "0" * 64, "/v1/players/anna", "/.well-known/nostr.json"):
            assert_problem(await http.get(path), 404, "not-found")


async def test_its_openapi_document_has_only_what_is_there() -> None:
    async with mirroring(NOWHERE) as http:
        paths: dict[str, Any] = (await http.get("/openapi.json")).json()["paths"]
        verified = await http.post("/v1/verify", content=b"{}", headers={"Content-Type": "application/json"})
    assert verified.status_code == 200
    assert {path: set(operations) for path, operations in paths.items()} == {
        "/": {"get"},
        "/play": {"get"},
        "/service-worker.js": {"get"},
        "/protocol": {"get"},
        "/protocol/check": {"post"},
        "/assets/{asset}": {"get"},
        "/v1/leaderboard": {"get"},
        "/v1/leaderboard/stream": {"get"},
        "/v1/verify": {"post"},
        "/v1/protocol": {"get"},
        "/healthz": {"get"},
        "/readyz": {"get"},
        "/metrics": {"get"},
        "/problems/{slug}": {"get"},
        "/openapi.json": {"get"},
    }


async def test_it_is_not_ready_before_a_relay_has_been_read() -> None:
    async with mirroring(NOWHERE) as http:
        document = (await http.get("/v1/leaderboard")).json()
        ready = await http.get("/readyz")
        alive = await http.get("/healthz")
    assert document["entries"] == []
    assert document["complete"] is False
    assert document["relays"][0]["state"] == "failed"
    assert document["relays"][0]["reason"]
    assert ready.status_code == 503
    assert ready.json()["checks"] == {"board": "no relay has been read yet"}
    assert ready.json()["relays"][0]["last_error"]
    assert alive.status_code == 200
