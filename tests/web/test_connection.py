"""Slow, greedy and broken clients, on raw sockets."""

from __future__ import annotations

import asyncio
import json
from contextlib import suppress
from ipaddress import ip_network
from typing import TYPE_CHECKING, Any

import pytest
import uvicorn
from uvicorn.server import ServerState

from app.web.connection import Bounds, Connection, Guard
from app.web.origin import Origins
from tests.web.live import live

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send

HURRY = Bounds(head_seconds=0.2, body_seconds=0.2, read_seconds=0.2, linger_seconds=0.2)
GET = b"GET /a HTTP/1.1\r\nHost: x\r\n\r\n"
LAST_GET = b"GET /b HTTP/1.1\r\nHost: x\r\nConnection: close\r\n\r\n"


def echo(_url: str) -> ASGIApp:
    """Answers with path and body, but does not wait for the body of /early."""

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        body = scope["path"].encode()
        more = scope["path"] != "/early"
        while more:
            message = await receive()
            if message["type"] == "http.disconnect":
                return
            body += message["body"]
            more = message["more_body"]
        headers = [(b"content-length", str(len(body)).encode())]
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    return app


def problem(answer: bytes, status: int, slug: str) -> dict[str, Any]:
    """Check that this is one response and the last, with the problem document of this kind."""
    head, _, body = answer.partition(b"\r\n\r\n")
    lines = head.decode().lower().split("\r\n")
    assert lines[0].startswith(f"http/1.1 {status} "), answer
    assert "content-type: application/problem+json" in lines
    assert "connection: close" in lines
    assert "x-content-type-options: nosniff" in lines
    assert f"content-length: {len(body)}" in lines
    document: dict[str, Any] = json.loads(body)
    assert document["type"].endswith(f"/problems/{slug}")
    assert document["status"] == status
    return document


async def test_a_head_that_does_not_end_is_cut() -> None:
    async with live(echo, HURRY) as server:
        problem(await server.exchange(b"GET / HTTP/1.1\r\nHost: x\r\n"), 408, "request-timeout")


async def test_a_head_that_trickles_is_cut() -> None:
    async with live(echo, HURRY) as server:
        reader, writer = await server.connect()
        writer.write(b"GET / HTTP/1.1\r\n")

        async def trickle() -> None:
            with suppress(ConnectionError):
                while True:
                    writer.write(b"a: b\r\n")
                    await writer.drain()
                    await asyncio.sleep(0.02)

        slow = asyncio.create_task(trickle())
        problem(await reader.read(), 408, "request-timeout")
        slow.cancel()
        writer.close()


async def test_a_refusal_reaches_a_client_that_is_still_sending() -> None:
    async with live(echo) as server:
        reader, writer = await server.connect()
        writer.write(b"GET / HTTP/1.1\r\nHost: x\r\na: ")
        flood = asyncio.create_task(send_without_end(writer))
        problem(await reader.read(), 431, "header-too-large")
        with suppress(ConnectionError):
            await flood  # the connection does not stay open for it
        writer.close()


async def send_without_end(writer: asyncio.StreamWriter) -> None:
    while True:
        writer.write(b"b" * 100)
        await writer.drain()
        await asyncio.sleep(0)


async def test_a_connection_that_says_nothing_is_closed_without_a_word() -> None:
    async with live(echo, HURRY) as server:
        assert await server.exchange() == b""


@pytest.mark.parametrize("between", [b"\r\n", b"GET"])
async def test_the_time_for_a_head_runs_on_a_kept_connection_too(between: bytes) -> None:
    async with live(echo, HURRY) as server:
        reader, writer = await server.connect()
        writer.write(GET)
        assert (await reader.readuntil(b"\r\n\r\n/a")).startswith(b"HTTP/1.1 200")
        writer.write(between)
        problem(await reader.read(), 408, "request-timeout")
        writer.close()


async def test_the_time_for_a_head_runs_where_it_began_behind_another_request() -> None:
    async with live(echo, HURRY) as server:
        answer = await server.exchange(GET + b"GET")
        problem(answer.partition(b"/a")[2], 408, "request-timeout")


async def test_a_kept_connection_is_closed_when_it_is_idle() -> None:
    async with live(echo, Bounds(idle_seconds=1)) as server:
        assert (await server.exchange(GET)).endswith(b"\r\n\r\n/a")


async def test_a_body_that_does_not_end_is_cut() -> None:
    async with live(echo, HURRY) as server:
        answer = await server.exchange(b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc")
        problem(answer, 408, "request-timeout")


async def test_a_body_that_nobody_waits_for_is_cut_without_a_second_answer() -> None:
    async with live(echo, HURRY) as server:
        answer = await server.exchange(b"POST /early HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nabc")
        assert answer.startswith(b"HTTP/1.1 200 ")
        assert answer.count(b"HTTP/1.1") == 1


async def test_a_slow_answer_is_not_cut() -> None:
    answering = asyncio.Event()

    async def app(scope: Scope, receive: Receive, send: Send) -> None:
        await answering.wait()
        await echo("")(scope, receive, send)

    async with live(lambda _url: app, HURRY) as server:
        reader, writer = await server.connect()
        # The pipelined request is not read on before the first is answered, which is not the client's fault.
        writer.write(GET + b"POST /c HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 1\r\n\r\n")
        await server.exchange()  # the server has cut a silent connection, so the time was over for others too
        writer.write(b"!")
        answering.set()
        answer = await reader.read()
        assert answer.count(b"HTTP/1.1 200") == 2
        assert answer.endswith(b"\r\n\r\n/c!")
        writer.close()


async def test_a_client_that_does_not_read_is_cut() -> None:
    gone = asyncio.Event()

    async def app(_scope: Scope, receive: Receive, send: Send) -> None:
        await receive()
        await send({"type": "http.response.start", "status": 200, "headers": []})
        flood = asyncio.create_task(receive())
        while not flood.done():
            await send({"type": "http.response.body", "body": bytes(65536), "more_body": True})
        gone.set()

    async with live(lambda _url: app, HURRY) as server:
        _, writer = await server.connect()
        writer.write(GET)
        await gone.wait()
        writer.transport.abort()


@pytest.mark.parametrize(
    ("sent", "status", "slug"),
    [
        ([b"GET / HTTP/1.1\r\nHost: x\r\na: " + b"b" * 17000 + b"\r\n\r\n"], 431, "header-too-large"),
        ([b"GET / HTTP/1.1\r\nHost: x\r\na: ", *[b"b" * 1000] * 17], 431, "header-too-large"),
        ([b"GET / HTTP/1.1\r\nHost: x\r\n", *[b"a: b\r\n" * 200] * 15], 431, "header-too-large"),
        ([b"GET /" + b"a" * 5000 + b" HTTP/1.1\r\nHost: x\r\n\r\n"], 414, "address-too-long"),
        ([b"GET /", *[b"a" * 1000] * 17], 414, "address-too-long"),
        ([b"GET /?" + b"a" * 5000 + b" HTTP/1.1\r\nHost: x\r\n\r\n"], 414, "address-too-long"),
        ([b"hello\r\n\r\n"], 400, "malformed-request"),
        ([b"\x16\x03\x01\x02\x00\x01\x00\x01\xfc\x03\x03"], 400, "malformed-request"),
        ([b"GET / HTTP/9.9\r\nHost: x\r\n\r\n"], 400, "malformed-request"),
        ([b"GET \xff HTTP/1.1\r\nHost: x\r\n\r\n"], 400, "malformed-request"),
        ([b"CONNECT a:1 HTTP/1.1\r\nHost: x\r\n\r\n"], 400, "malformed-request"),
        ([b"GET / HTTP/1.1\r\n\r\n"], 400, "malformed-request"),
        ([b"GET / HTTP/1.1\r\nHost: x\r\nHost: y\r\n\r\n"], 400, "malformed-request"),
        ([b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: -1\r\n\r\n"], 400, "malformed-request"),
        (
            [b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\n"],
            400,
            "malformed-request",
        ),
        (
            [b"POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n"],
            400,
            "malformed-request",
        ),
        (
            [b"POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nzz\r\n"],
            400,
            "malformed-request",
        ),
    ],
)
async def test_faults_that_never_reach_the_application(sent: list[bytes], status: int, slug: str) -> None:
    async with live(echo) as server:
        problem(await server.exchange(*sent), status, slug)


async def test_what_fits_passes() -> None:
    longest = (
        b"GET /"
        + b"a" * 4095
        + b" HTTP/1.1\r\nHost: x\r\nConnection: close\r\na: "
        + b"b" * 12000
        + b"\r\n\r\n"
    )
    async with live(echo) as server:
        assert (await server.exchange(longest)).startswith(b"HTTP/1.1 200 ")
        # A large body in one piece with its head is no large head.
        body = b"b" * 60_000
        head = b"POST / HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: 60000\r\n\r\n"
        assert (await server.exchange(head + body)).endswith(body)
        assert (await server.exchange(b"GET /old HTTP/1.0\r\n\r\n")).endswith(b"/old")


async def test_requests_in_one_piece_are_answered_in_order() -> None:
    async with live(echo) as server:
        answer = await server.exchange(GET + LAST_GET)
    assert answer.count(b"HTTP/1.1 200") == 2
    assert answer.index(b"\r\n\r\n/a") < answer.index(b"\r\n\r\n/b")


async def test_the_answer_before_a_fault_is_the_last() -> None:
    async with live(echo) as server:
        answer = await server.exchange(GET + b"garbage\r\n\r\n")
    assert answer.startswith(b"HTTP/1.1 200")
    assert answer.endswith(b"\r\n\r\n/a")


async def test_another_protocol_is_not_spoken() -> None:
    async with live(echo) as server:
        upgrade = b"GET /a HTTP/1.1\r\nHost: x\r\nConnection: Upgrade\r\nUpgrade: h2c\r\n\r\n"
        answer = await server.exchange(upgrade, GET)
    assert answer.startswith(b"HTTP/1.1 200")
    assert answer.count(b"HTTP/1.1") == 1


async def test_one_address_holds_half_of_the_connections() -> None:
    async with live(echo, Bounds(connections=4)) as server:
        held = [await server.connect() for _ in range(2)]
        answer = await server.exchange()
        problem(answer, 503, "overloaded")
        assert b"\r\nretry-after: 5\r\n" in answer.lower()
        reader, writer = held.pop()
        writer.write(LAST_GET)
        assert (await reader.read()).endswith(b"/b")
        writer.close()
        assert (await server.exchange(LAST_GET)).endswith(b"/b")
        held[0][1].close()


async def test_a_proxy_holds_as_many_as_there_are() -> None:
    origins = Origins((ip_network("127.0.0.0/8"),))
    async with live(echo, Bounds(connections=4), origins) as server:
        held = [await server.connect() for _ in range(4)]
        problem(await server.exchange(), 503, "overloaded")
        for _, writer in held:
            writer.write(LAST_GET)
        for reader, writer in held:
            assert (await reader.read()).endswith(b"/b")
            writer.close()


def test_refusals_are_logged_once_in_a_while(caplog: pytest.LogCaptureFixture) -> None:
    guard = Guard("http://x", bounds=Bounds(connections=2))
    assert guard.admit("192.0.2.1")
    for _ in range(100):
        assert not guard.admit("192.0.2.1")
    guard.report(1000)
    assert not guard.admit("192.0.2.1")
    guard.report(1001)
    assert [record.getMessage() for record in caplog.records] == [
        "100 connections were refused: too many at once"
    ]
    assert guard.admit("192.0.2.2")
    assert not guard.admit("192.0.2.3")
    guard.release("192.0.2.1")
    assert guard.admit("192.0.2.3")


class Wire(asyncio.Transport):
    """A transport that keeps what is written, for requests that are cut where the test says."""

    def __init__(self) -> None:
        super().__init__({"peername": ("127.0.0.1", 1), "sockname": ("127.0.0.1", 2)})
        self.written = b""

    def write(self, data: bytes) -> None:  # type: ignore[override]
        self.written += data

    def close(self) -> None:
        pass

    def is_closing(self) -> bool:
        return False

    def pause_reading(self) -> None:
        pass

    def resume_reading(self) -> None:
        pass


async def test_requests_pass_however_they_are_cut() -> None:
    config = uvicorn.Config(echo(""), log_config=None, access_log=False, lifespan="off")
    state = ServerState()
    connection = Connection(Guard("http://x"), config=config, server_state=state, app_state={})
    wire = Wire()
    connection.connection_made(wire)
    fields = b"".join(b"X-%d: %b\r\n" % (number, b"c" * 1000) for number in range(15))
    body = b"d" * 100_000
    request = b"POST /a HTTP/1.1\r\nHost: x\r\n%bContent-Length: 100000\r\n\r\n%b" % (fields, body)
    for size in (len(request), 7000, 1013, 15_500, 60_000):
        for at in range(0, len(request), size):
            connection.data_received(request[at : at + size])
        await asyncio.gather(*state.tasks)
        assert wire.written.startswith(b"HTTP/1.1 200 "), size
        assert wire.written.endswith(b"\r\n\r\n/a" + body)
        wire.written = b""
    connection.connection_lost(None)
