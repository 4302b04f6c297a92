"""The listening socket, its address, and a server that says when it begins and ends."""

from __future__ import annotations

import asyncio
from contextlib import closing
from typing import TYPE_CHECKING

import httpx
import pytest
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from app.web.app import make_app
from app.web.server import Server, listen, url_of

if TYPE_CHECKING:
    from starlette.requests import Request


@pytest.mark.parametrize(
    ("host", "shown"), [("127.0.0.1", "127.0.0.1"), ("localhost", "127.0.0.1"), ("::1", "[::1]")]
)
def test_a_free_port_and_its_address(host: str, shown: str) -> None:
    try:
        listening = listen(host, 0)
    except OSError:
        if host != "::1":
            raise
        pytest.skip("no IPv6 here")
    with closing(listening):
        port = listening.getsockname()[1]
        assert port > 0
        assert url_of(listening) == f"http://{shown}:{port}"


def test_an_address_that_cannot_be_had() -> None:
    with closing(listen("127.0.0.1", 0)) as taken, pytest.raises(OSError, match="in use"):
        listen("127.0.0.1", taken.getsockname()[1])
    with pytest.raises(OSError, match="not known"):
        listen("no-such-host.invalid", 0)


async def test_a_server_answers_until_it_is_stopped_and_finishes_what_is_under_way() -> None:
    entered, release = asyncio.Event(), asyncio.Event()

    async def slow(_request: Request) -> Response:
        entered.set()
        await release.wait()
        return PlainTextResponse("done")

    listening = listen("127.0.0.1", 0)
    started: asyncio.Future[None] = asyncio.get_running_loop().create_future()
    server = Server(
        make_app([Route("/slow", slow)], "http://x"),
        listening,
        started=lambda: started.set_result(None),
        stopping=release.set,
    )
    serving = asyncio.create_task(server.run_until_signal())
    await started
    async with httpx.AsyncClient(base_url=url_of(listening)) as http:
        waiting = asyncio.create_task(http.get("/slow"))
        await entered.wait()
        server.stop()
        answer = await waiting
    assert answer.text == "done"
    await serving
    assert listening.fileno() == -1, "the socket is closed"
