"""What pages of other origins may do."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from tests.service import assert_problem, running

if TYPE_CHECKING:
    from pathlib import Path

    import httpx

GAME, STRANGER = "https://game.example", "https://stranger.example"
ORIGIN = "access-control-allow-origin"
NEEDED = "authorization, content-type, idempotency-key, prefer"


def words(response: httpx.Response, header: str) -> set[str]:
    return {word.strip().lower() for word in response.headers.get(header, "").split(",")} - {""}


def preflight(method: str, fields: str = "", origin: str = GAME) -> dict[str, str]:
    asked = {"Origin": origin, "Access-Control-Request-Method": method}
    return asked | ({"Access-Control-Request-Headers": fields} if fields else {})


@pytest.mark.parametrize(
    "path", ["/v1/protocol", "/healthz", "/v1/players/nobody", "/nothing", "/openapi.json"]
)
@pytest.mark.parametrize("origin", [GAME, STRANGER, "null", None])
async def test_reads_are_public(tmp_path: Path, path: str, origin: str | None) -> None:
    async with running(tmp_path, CORS_ORIGINS=GAME) as client:
        del client.http.headers["authorization"]
        answer = await client.http.get(path, headers={"Origin": origin} if origin else {})
        assert answer.headers[ORIGIN] == "*"
        assert "access-control-allow-credentials" not in answer.headers


async def test_a_signed_in_read_is_for_configured_origins(tmp_path: Path) -> None:
    async with running(tmp_path, CORS_ORIGINS=GAME) as client:
        assert (await client.http.get("/v1/protocol", headers={"Origin": GAME})).headers[ORIGIN] == GAME
        assert ORIGIN not in (await client.http.get("/v1/protocol", headers={"Origin": STRANGER})).headers


@pytest.mark.parametrize(
    ("status", "body", "headers"),
    [
        (201, b'{"username":"alice","score":60}', {}),
        (400, b"{", {}),
        (401, b"{}", {"Authorization": "Bearer wrong"}),
        (413, b"{" + b" " * 5000, {}),
        (415, b"{}", {"Content-Type": "text/plain"}),
        (422, b'{"username":"alice","score":600}', {}),
    ],
)
async def test_the_headers_stand_on_errors_too(
    tmp_path: Path, status: int, body: bytes, headers: dict[str, str]
) -> None:
    async with running(tmp_path, CORS_ORIGINS=f"https://other.example,{GAME}") as client:
        fields = {"Content-Type": "application/json", **headers}
        answer = await client.http.post("/v1/scores", content=body, headers={**fields, "Origin": GAME})
        assert answer.status_code == status
        assert answer.headers[ORIGIN] == GAME
        assert "origin" in words(answer, "vary")
        assert words(answer, "access-control-expose-headers") == {"*"}
        stranger = await client.http.post("/v1/scores", content=body, headers={**fields, "Origin": STRANGER})
        assert ORIGIN not in stranger.headers
        assert "origin" in words(stranger, "vary")
        assert "access-control-allow-credentials" not in {*answer.headers, *stranger.headers}


async def test_the_headers_stand_on_refusals_and_failures(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(tmp_path, CORS_ORIGINS=GAME, RATE_LIMIT="2/minute") as client:
        assert (await client.post("alice", 60, Origin=GAME)).status_code == 201

        async def fail(*_: object, **__: object) -> None:
            raise RuntimeError

        monkeypatch.setattr("app.publisher.Publisher.publish", fail)
        failed = await client.post("alice", 60, Origin=GAME)
        limited = await client.post("alice", 60, Origin=GAME)
        assert (failed.status_code, limited.status_code) == (500, 429)
        assert failed.headers[ORIGIN] == limited.headers[ORIGIN] == GAME
        assert words(limited, "access-control-expose-headers") == {"*"}


@pytest.mark.parametrize("method", ["POST", "DELETE", "GET"])
async def test_a_configured_origin_may_sign_in(tmp_path: Path, method: str) -> None:
    async with running(tmp_path, CORS_ORIGINS=GAME) as client:
        answer = await client.http.request("OPTIONS", "/v1/scores", headers=preflight(method, NEEDED))
        assert answer.status_code == 204
        assert answer.content == b""
        assert answer.headers[ORIGIN] == GAME
        assert set(NEEDED.split(", ")) <= words(answer, "access-control-allow-headers")
        assert method.lower() in words(answer, "access-control-allow-methods")
        assert int(answer.headers["access-control-max-age"]) > 0
        assert "origin" in words(answer, "vary")
        assert "access-control-allow-credentials" not in answer.headers


@pytest.mark.parametrize(("method", "path"), [("GET", "/v1/protocol"), ("POST", "/v1/verify")])
async def test_anybody_may_ask_what_is_public_but_not_sign_in(tmp_path: Path, method: str, path: str) -> None:
    async with running(tmp_path) as client:
        asked = preflight(method, "content-type", STRANGER)
        answer = await client.http.request("OPTIONS", path, headers=asked)
        assert answer.status_code == 204
        assert answer.headers[ORIGIN] == "*"
        assert "content-type" in words(answer, "access-control-allow-headers")
        assert "authorization" not in words(answer, "access-control-allow-headers")
        called = await client.http.request(method, path, headers={"Origin": STRANGER, "Authorization": ""})
        assert called.headers.get(ORIGIN) is None


@pytest.mark.parametrize(
    "origin", [STRANGER, "null", "https://game.example.stranger.example", "http://game.example"]
)
async def test_a_strange_origin_may_not_post(tmp_path: Path, origin: str) -> None:
    async with running(tmp_path, CORS_ORIGINS=GAME) as client:
        answer = await client.http.request("OPTIONS", "/v1/scores", headers=preflight("POST", NEEDED, origin))
        document = assert_problem(answer, 403, "origin-not-allowed")
        assert "BRISCOLA_CORS_ORIGINS" in document["detail"]
        assert ORIGIN not in answer.headers


async def test_options_that_are_no_preflight_are_a_method_like_others(tmp_path: Path) -> None:
    async with running(tmp_path, CORS_ORIGINS=GAME) as client:
        assert_problem(await client.http.request("OPTIONS", "/v1/scores"), 405, "method-not-allowed")
