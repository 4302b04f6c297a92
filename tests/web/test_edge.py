"""The headers that go with every answer."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import httpx
import pytest
from starlette.responses import HTMLResponse

from app.web.cors import Cors
from app.web.edge import Edge
from app.web.traffic import Traffic
from tests.service import assert_problem, running

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.types import Receive, Scope, Send


@pytest.mark.parametrize(
    "path", ["/v1/protocol", "/nothing", "/problems/internal", "/openapi.json", "/readyz"]
)
async def test_every_answer_is_only_what_it_says(tmp_path: Path, path: str) -> None:
    async with running(tmp_path) as client:
        for answer in (await client.http.get(path), await client.http.post(path)):
            assert answer.headers["x-content-type-options"] == "nosniff"
            assert answer.headers["referrer-policy"] == "no-referrer"
            assert answer.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"


async def answer_of(public_url: str, page: HTMLResponse, times: int = 1) -> httpx.Response:
    transport = httpx.ASGITransport(Edge(page, Cors(frozenset()), Traffic(), public_url))
    async with httpx.AsyncClient(transport=transport, base_url="http://inside") as http:
        for _ in range(times):
            answer = await http.get("/")
        return answer


@pytest.mark.parametrize("path", ["/v1/scores/%00", "/v1/players/a%00b", "/v1/players/a%00b/score"])
async def test_no_address_holds_a_nul(url: str, path: str) -> None:
    """PostgreSQL takes none in a text."""
    async with running(url) as client:
        for method in ("GET", "DELETE"):
            assert_problem(await client.http.request(method, path), 404, "not-found")


async def test_browsers_stay_on_https_where_it_is_spoken() -> None:
    page = HTMLResponse("hello")
    assert "strict-transport-security" not in (await answer_of("http://scores.example", page)).headers
    answer = await answer_of("https://scores.example/a", page)
    assert answer.headers["strict-transport-security"] == "max-age=31536000"


async def test_a_page_may_say_itself_what_it_needs() -> None:
    page = HTMLResponse("hello", headers={"Content-Security-Policy": "default-src 'self'"})
    # A response that is kept for many calls gathers no headers.
    answer = await answer_of("http://scores.example", page, times=3)
    assert answer.headers.get_list("content-security-policy") == ["default-src 'self'"]
    assert len(answer.headers.get_list("x-content-type-options")) == 1


async def test_a_call_that_comes_to_no_end_before_the_server_stops_hears_of_it() -> None:
    entered = asyncio.Event()

    async def endless(_scope: Scope, _receive: Receive, _send: Send) -> None:
        entered.set()
        await asyncio.Event().wait()

    transport = httpx.ASGITransport(Edge(endless, Cors(frozenset()), Traffic(), "http://scores.example"))
    async with httpx.AsyncClient(transport=transport, base_url="http://inside") as http:
        call = asyncio.create_task(http.get("/"))
        await entered.wait()
        call.cancel()  # as the server does with what is unfinished some seconds after the signal
        answer = await call
    assert (answer.status_code, answer.json()["type"]) == (503, "http://scores.example/problems/stopping")
    assert answer.headers["x-content-type-options"] == "nosniff"
