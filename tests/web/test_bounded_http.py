"""The head of a request is bounded, however it is cut, and every other request passes."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest
import uvicorn
from starlette.responses import PlainTextResponse
from starlette.routing import Route
from uvicorn.server import ServerState

from app.web.app import make_app
from app.web.bounded_http import MAX_HEAD, BoundedHttp

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response

START = b"GET /echo HTTP/1.1\r\nHost: x\r\n"


async def echo(request: Request) -> Response:
    return PlainTextResponse(f"{len(request.headers)} headers, {len(await request.body())} bytes")


class Wire(asyncio.Transport):
    """A transport that keeps what is written."""

    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 1), "sockname": ("127.0.0.1", 2)})
        self.written, self.closed = b"", False

    def write(self, data: bytes) -> None:  # type: ignore[override]
        self.written += data

    def close(self) -> None:
        self.closed = True

    def is_closing(self) -> bool:
        return self.closed

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass


class Client:
    """One connection to an application that echoes."""

    def __init__(self) -> None:
        app = make_app([Route("/echo", echo, methods=["GET", "POST"])], "http://x")
        config = uvicorn.Config(app, log_config=None, access_log=False, lifespan="off")
        config.load()
        self.state = ServerState()
        self.http = BoundedHttp(config, self.state, {}, asyncio.get_running_loop())
        self.wire = Wire()
        self.http.connection_made(self.wire)

    async def send(self, *parts: bytes) -> str:
        """Send parts until one is refused; returns the status line and the body of what was answered."""
        self.wire.written = b""
        for part in parts:
            if self.wire.closed:
                break
            self.http.data_received(part)
        await asyncio.gather(*self.state.tasks)
        head, _, body = self.wire.written.partition(b"\r\n\r\n")
        return f"{head.splitlines()[0].decode() if head else ''} {body.decode()}".strip()


REFUSED = "HTTP/1.1 400 Bad Request The head of the request is too long."


@pytest.mark.parametrize("part", [b"a" * 1000, b"b\r\nX-Y: " + b"b" * 993], ids=["one header", "many"])
async def test_a_head_without_end_is_refused(part: bytes) -> None:
    client = Client()
    enough = MAX_HEAD // len(part)
    assert await client.send(START + b"X: ", *[part] * enough) == ""
    assert not client.wire.closed
    assert await client.send(part) == REFUSED
    assert client.wire.closed


async def test_a_request_line_without_end_is_refused() -> None:
    assert await Client().send(b"GET /", *[b"x" * 1000] * 100) == REFUSED


async def test_requests_below_the_bound_pass_one_after_another_however_they_are_cut() -> None:
    client = Client()
    head = START + b"".join(b"X-%d: %b\r\n" % (number, b"c" * 1000) for number in range(60)) + b"\r\n"
    for size in (len(head), 7000, 101, 60_000):
        parts = [head[at : at + size] for at in range(0, len(head), size)]
        assert await client.send(*parts) == "HTTP/1.1 200 OK 61 headers, 0 bytes"


async def test_a_body_is_no_head() -> None:
    client = Client()
    size = 20 * MAX_HEAD
    head = b"POST /echo HTTP/1.1\r\nHost: x\r\nContent-Length: %d\r\n\r\n" % size
    assert await client.send(head, *[b"d" * MAX_HEAD] * 20) == f"HTTP/1.1 200 OK 2 headers, {size} bytes"
    assert await client.send(START + b"\r\n") == "HTTP/1.1 200 OK 1 headers, 0 bytes"
