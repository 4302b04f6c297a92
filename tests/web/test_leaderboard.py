"""GET /v1/leaderboard and its stream, as clients call them."""

from __future__ import annotations

import asyncio
import json
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from app.main import open_service
from app.web import leaderboard
from app.web.live_board import LiveBoard, open_board
from app.web.room import Room
from tests.relays.fake import FakeRelay, respond
from tests.service import PUBKEY, Running, assert_problem, make_key, running, settings
from tests.web.boards import NOW, Source, board_of
from tests.web.live import live

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path


@pytest.fixture
async def source() -> Source:
    source = Source()
    for number in range(120):
        source.add(f"p{number:03}", 120 - number, NOW)
    return source


@pytest.fixture
async def client(tmp_path: Path, source: Source) -> AsyncIterator[Running]:
    async with running(tmp_path, board=board_of(source)) as client:
        del client.http.headers["authorization"]
        yield client


async def test_the_top_fifty(client: Running) -> None:
    answer = await client.http.get("/v1/leaderboard")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    assert answer.headers["cache-control"] == "no-cache"
    assert answer.headers["access-control-allow-origin"] == "*"
    document = answer.json()
    assert [entry["rank"] for entry in document["entries"]] == list(range(1, 51))
    assert document["complete"] is True
    more = (await client.http.get("/v1/leaderboard", params={"cursor": document["next"]})).json()
    assert [entry["rank"] for entry in more["entries"]] == list(range(51, 101))


async def test_faults_are_named(client: Running) -> None:
    answer = await client.http.get("/v1/leaderboard?limit=0&since=ever&x=1")
    document = assert_problem(answer, 422, "invalid-query")
    assert {error["field"] for error in document["errors"]} == {"limit", "since", "x"}
    assert_problem(await client.http.get("/v1/leaderboard?around=nobody"), 404, "not-found")
    for query, field in (("since=day", "since"), ("proved=yes", "proved"), ("level=hard", "level")):
        answer = await client.http.get(f"/v1/leaderboard/stream?{query}")
        assert assert_problem(answer, 422, "invalid-query")["errors"][0]["field"] == field


async def test_what_a_client_has_is_not_sent_again(client: Running, source: Source) -> None:
    first = await client.http.get("/v1/leaderboard")
    tag = first.headers["etag"]
    for given in (tag, f"W/{tag}", f'"other", {tag}', "*"):
        same = await client.http.get("/v1/leaderboard", headers={"If-None-Match": given})
        assert (same.status_code, same.content, same.headers["etag"]) == (304, b"", tag)
        assert same.headers["cache-control"] == "no-cache"
        assert same.headers["access-control-allow-origin"] == "*"
    source.add("p000", 3, NOW + 1)
    changed = await client.http.get("/v1/leaderboard", headers={"If-None-Match": tag})
    assert changed.status_code == 200
    assert changed.headers["etag"] != tag
    head = await client.http.head("/v1/leaderboard")
    assert (head.status_code, head.headers["etag"]) == (200, changed.headers["etag"])


async def test_rankings_made_for_one_caller_are_limited(tmp_path: Path, source: Source) -> None:
    async with running(tmp_path, board=board_of(source), RATE_LIMIT="2/minute") as client:
        asked = ["since=5", "until=5", "since=6"]
        answers = [await client.http.get(f"/v1/leaderboard?{query}") for query in asked]
        assert [answer.status_code for answer in answers] == [200, 200, 429]
        shared = [await client.http.get(f"/v1/leaderboard?{query}") for query in ("since=day", "limit=7")]
        assert [answer.status_code for answer in shared] == [200, 200]


async def test_a_service_without_a_board_has_no_such_call(tmp_path: Path) -> None:
    async with running(tmp_path) as client:
        assert_problem(await client.http.get("/v1/leaderboard"), 404, "not-found")


# With real sockets


@asynccontextmanager
async def serving(
    folder: Path, *relays: str, **more: str
) -> AsyncIterator[tuple[httpx.AsyncClient, LiveBoard]]:
    """A service that reads its relays, on a socket; the client holds an API key."""
    _, token = make_key(folder / "scores.db")
    opened = settings(folder / "scores.db", relays, **more)
    async with (
        open_service(opened) as service,
        open_board(opened.relays, opened.verifying_keys, service.clock) as board,
        live(lambda url: service.app(url, board)) as server,
        httpx.AsyncClient(base_url=server.url, timeout=30) as http,
    ):
        http.headers["authorization"] = f"Bearer {token}"
        yield http, board
        service.stop_waiting(board)


async def events(response: httpx.Response) -> AsyncIterator[tuple[str, str, Any]]:
    fields: dict[str, str] = {}
    async for line in response.aiter_lines():
        if line:
            name, _, value = line.partition(": ")
            fields[name] = value
        elif fields.get("data"):
            yield fields["event"], fields["id"], json.loads(fields["data"])
            fields = {}


async def next_change(coming: AsyncIterator[tuple[str, str, Any]]) -> tuple[str, Any]:
    """The next event that rows have changed, its id and its document; relays may turn in between."""
    async for kind, event_id, document in coming:
        if kind == "change":
            return event_id, document
    raise AssertionError("the stream has ended")


async def test_a_posted_score_is_seen_live_and_a_client_that_comes_back_misses_nothing(
    tmp_path: Path, rust_relay: str
) -> None:
    async with serving(tmp_path, rust_relay) as (http, _):
        async with http.stream("GET", "/v1/leaderboard/stream") as response:
            assert response.headers["content-type"].startswith("text/event-stream")
            coming = events(response)
            kind, _, document = await anext(coming)
            assert (kind, document["entries"], document["complete"]) == ("board", [], True)
            posted = await http.post("/v1/scores", json={"username": "Alice", "score": 72})
            seen, document = await next_change(coming)
            assert [(e["rank"], e["event"]) for e in document["entries"]] == [(1, posted.json()["event"])]
        await http.post("/v1/scores", json={"username": "Bob", "score": 90}, headers={"Prefer": "wait=10"})
        headers = {"Last-Event-ID": seen}
        async with http.stream("GET", "/v1/leaderboard/stream", headers=headers) as response:
            _, document = await next_change(events(response))
        assert [(e["rank"], e["username"]) for e in document["entries"]] == [(1, "Bob")]
        board = (await http.get("/v1/leaderboard")).json()
        assert [(e["rank"], e["username"]) for e in board["entries"]] == [(1, "Bob"), (2, "Alice")]
        deleted = await http.delete("/v1/players/bob/score", headers={"Prefer": "wait=10"})
        assert deleted.status_code == 200
        async with http.stream("GET", "/v1/leaderboard/stream", headers=headers) as response:
            coming = events(response)
            while document["removed"] != ["bob"]:
                _, document = await next_change(coming)


async def test_one_relay_that_fails_leaves_the_board_of_the_others(tmp_path: Path, rust_relay: str) -> None:
    async with (
        FakeRelay(on_handshake=respond(503)) as faulty,
        serving(tmp_path, faulty.url, rust_relay) as (http, _),
    ):
        async with http.stream("GET", "/v1/leaderboard/stream") as response:
            coming = events(response)
            await anext(coming)
            await http.post("/v1/scores", json={"username": "Alice", "score": 72})
            await next_change(coming)
        document = (await http.get("/v1/leaderboard")).json()
        assert [entry["username"] for entry in document["entries"]] == ["Alice"]
        assert document["complete"] is False
        relays = {relay["url"]: relay for relay in document["relays"]}
        assert relays[rust_relay.rstrip("/")]["complete"] is True
        assert relays[faulty.url]["complete"] is False
        assert "HTTP 503" in relays[faulty.url]["reason"]


async def test_streams_are_so_many_and_half_for_one_address(
    tmp_path: Path, rust_relay: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    left: asyncio.Queue[str] = asyncio.Queue()

    class WatchedRoom(Room):
        def release(self, address: str) -> None:
            super().release(address)
            left.put_nowait(address)

    monkeypatch.setattr(leaderboard, "MAX_STREAMS", 4)
    monkeypatch.setattr(leaderboard, "Room", WatchedRoom)
    async with serving(tmp_path, rust_relay, TRUSTED_PROXIES="127.0.0.1") as (http, _):
        open_ones = []

        async def open_stream(address: str) -> int:
            request = http.build_request(
                "GET", "/v1/leaderboard/stream", headers={"X-Forwarded-For": address}
            )
            response = await http.send(request, stream=True)
            open_ones.append(response)
            return response.status_code

        assert [await open_stream("192.0.2.1") for _ in range(3)] == [200, 200, 503]
        assert [await open_stream(f"192.0.2.{n}") for n in (2, 3, 4)] == [200, 200, 503]
        refused = open_ones[-1]
        assert refused.headers["retry-after"]
        assert json.loads(await refused.aread())["type"].endswith("/problems/overloaded")
        for response in open_ones:
            await response.aclose()
        async with asyncio.timeout(10):
            assert {await left.get() for _ in range(4)} == {"192.0.2.1", "192.0.2.2", "192.0.2.3"}
        assert await open_stream("192.0.2.1") == 200
        await open_ones[-1].aclose()


async def test_rows_carry_events_that_verify(tmp_path: Path, rust_relay: str) -> None:
    from nostr_sdk import Event

    async with serving(tmp_path, rust_relay) as (http, _):
        async with http.stream("GET", "/v1/leaderboard/stream") as response:
            coming = events(response)
            await anext(coming)
            await http.post("/v1/scores", json={"username": "È", "score": 1})
            await next_change(coming)
        document = (await http.get("/v1/leaderboard?around=%C3%A8")).json()
        (entry,) = document["entries"]
        event = Event.from_json(json.dumps(entry["event"]))
        assert event.verify()
        assert event.author().to_hex() == PUBKEY
        assert event.id().to_hex() == entry["event_id"]
