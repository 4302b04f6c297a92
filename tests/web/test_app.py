"""The application as a whole: what is not there, what is not allowed, HEAD."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from starlette.requests import ClientDisconnect, Request
from starlette.routing import Route

from app.web.app import make_app
from tests.service import PUBLIC_URL, assert_problem, running

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.responses import Response


async def test_what_is_not_there(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        for path in (
            "/",
            "/v1",
            "/v1/scores/",
            "/v1/scores/a/b",
            "/v1/players/",
            "/healthz/",
            "/V1/protocol",
        ):
            answer = await service.http.get(path)
            document = assert_problem(answer, 404, "not-found")
            assert path in document["detail"]
        assert_problem(await service.http.post("/nothing"), 404, "not-found")
        for host in ("[", "a b", "\xff", ""):
            answer = await service.http.get("/nothing", headers=[(b"Host", host.encode("latin-1"))])
            assert answer.status_code == 404, host


@pytest.mark.parametrize(
    ("method", "path", "allowed"),
    [
        ("GET", "/v1/scores", {"POST"}),
        ("PUT", "/v1/scores", {"POST"}),
        ("OPTIONS", "/v1/scores", {"POST"}),
        ("POST", "/v1/scores/abc", {"GET", "HEAD"}),
        ("DELETE", "/v1/scores/abc", {"GET", "HEAD"}),
        ("POST", "/v1/players/alice", {"GET", "HEAD"}),
        ("POST", "/v1/protocol", {"GET", "HEAD"}),
        ("PATCH", "/healthz", {"GET", "HEAD"}),
        ("POST", "/readyz", {"GET", "HEAD"}),
        ("POST", "/problems/internal", {"GET", "HEAD"}),
        ("BREW", "/readyz", {"GET", "HEAD"}),
    ],
)
async def test_another_method_is_told_which_are_allowed(
    tmp_path: Path, method: str, path: str, allowed: set[str]
) -> None:
    async with running(tmp_path) as service:
        answer = await service.http.request(method, path)
        assert method in assert_problem(answer, 405, "method-not-allowed")["detail"]
        assert set(answer.headers["allow"].replace(" ", "").split(",")) == allowed


async def test_head_answers_as_get_would(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        posted = await service.post("alice", 72)
        for path in (
            posted.headers["location"],
            "/v1/players/alice",
            "/v1/protocol",
            "/healthz",
            "/readyz",
            "/problems/internal",
        ):
            head, get = await service.http.head(path), await service.http.get(path)
            assert head.status_code == get.status_code == 200
            assert head.headers == get.headers


async def test_a_client_that_hangs_up_is_no_failure_of_ours(caplog: pytest.LogCaptureFixture) -> None:
    async def read(request: Request) -> Response:
        await request.body()
        raise AssertionError("the body was never whole")

    async def receive() -> dict[str, object]:
        return {"type": "http.disconnect"}

    async def send(message: object) -> None:
        pass

    app = make_app([Route("/read", read, methods=["POST"])], PUBLIC_URL)
    scope = {
        "type": "http", "method": "POST", "path": "/read", "raw_path": b"/read", "query_string": b"",
        "headers": [], "scheme": "http", "server": ("test", 80), "http_version": "1.1", "root_path": "",
    }  # fmt: skip
    try:
        await app(scope, receive, send)  # type: ignore[arg-type]
    except ClientDisconnect:
        pytest.fail("uvicorn would print a traceback")
    assert not caplog.records
