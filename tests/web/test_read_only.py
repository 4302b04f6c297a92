"""A mirror passes reads on and refuses the rest with a word."""

from __future__ import annotations

from typing import TYPE_CHECKING

import httpx
import pytest
from starlette.responses import PlainTextResponse

from app.web.read_only import ReadOnly
from tests.service import PUBLIC_URL, assert_problem

if TYPE_CHECKING:
    from starlette.types import Receive, Scope, Send


async def echo(scope: Scope, receive: Receive, send: Send) -> None:
    await PlainTextResponse("passed on")(scope, receive, send)


@pytest.mark.parametrize(
    ("method", "path", "passes"),
    [
        ("GET", "/v1/leaderboard", True),
        ("HEAD", "/v1/scores", True),
        ("POST", "/v1/verify", True),
        ("POST", "/v1/scores", False),
        ("DELETE", "/v1/players/alice/score", False),
        ("PUT", "/", False),
        ("BREW", "/v1/verify", False),
    ],
)
async def test_what_passes(method: str, path: str, passes: bool) -> None:
    transport = httpx.ASGITransport(ReadOnly(echo, PUBLIC_URL))
    async with httpx.AsyncClient(transport=transport, base_url=PUBLIC_URL) as http:
        answer = await http.request(method, path)
    if passes:
        assert answer.status_code == 200
    else:
        document = assert_problem(answer, 405, "method-not-allowed")
        assert "read-only mirror" in document["detail"]
        assert answer.headers["allow"] == "GET, HEAD"
