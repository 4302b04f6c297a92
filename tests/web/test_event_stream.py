"""Server-sent events: what each reader gets, in which order, and what becomes of one who does not read."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any

import pytest

from app.web import event_stream
from app.web.connection import Bounds
from app.web.event_stream import QUEUED, EventStream, Hub, Reader, message
from tests.web.live import Live, live

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, MutableMapping

    from starlette.types import Receive, Scope, Send


def begin() -> bytes:
    return b"beginning"


async def taken(reader: Reader, count: int) -> list[bytes | None]:
    return [await reader.next(begin) for _ in range(count)]


def id_in(text: bytes | None) -> str:
    assert text is not None
    return next(line[4:] for line in text.decode().splitlines() if line.startswith("id: "))


def test_an_event_has_the_form_of_the_standard() -> None:
    assert message("change", b'{"a":1}', "x-1") == b'event: change\nid: x-1\ndata: {"a":1}\n\n'


async def test_every_reader_gets_every_event_after_its_beginning() -> None:
    hub = Hub()
    hub.send("change", b"0")
    one, two = hub.join(None), hub.join(None)
    hub.send("change", b"1")
    for reader in (one, two):
        assert await reader.next(begin) == b"beginning"
    hub.send("change", b"2")
    assert [b"data: 2" in (text or b"") for text in await taken(one, 1)] == [True]
    hub.leave(two)
    hub.send("change", b"3")
    assert len(hub) == 1
    assert b"data: 2" in (await two.next(begin) or b"")


async def test_what_the_beginning_holds_is_not_told_again() -> None:
    hub = Hub()
    reader = hub.join(None)
    hub.send("change", b"1")
    assert await reader.next(begin) == b"beginning"
    hub.send("change", b"2")
    assert b"data: 2" in (await reader.next(begin) or b"")


async def test_who_comes_back_is_told_what_it_missed() -> None:
    hub = Hub()
    first = hub.join(None)
    await first.next(begin)
    hub.send("change", b"1")
    seen = id_in(await first.next(begin))
    hub.send("change", b"2")
    hub.send("change", b"3")
    texts = await taken(hub.join(seen), 2)
    assert [text and text.partition(b"data: ")[2] for text in texts] == [b"2\n\n", b"3\n\n"]
    nothing_missed = hub.join(hub.last_id)
    hub.send("change", b"4")
    assert b"data: 4" in (await nothing_missed.next(begin) or b"")


@pytest.mark.parametrize("last_id", ["", "x", "-1", "0", "other-1", "{epoch}-99", "{epoch}-x", "{epoch}--1"])
async def test_who_brings_an_id_that_means_nothing_begins_anew(last_id: str) -> None:
    hub = Hub()
    hub.send("change", b"1")
    last_id = last_id.replace("{epoch}", hub.last_id.partition("-")[0])
    assert await hub.join(last_id).next(begin) == b"beginning"


async def test_what_was_missed_is_kept_up_to_a_mebibyte() -> None:
    hub = Hub()
    ids = [hub.last_id]
    for _ in range(20):
        hub.send("change", b"x" * 100_000)
        ids.append(hub.last_id)
    assert len(await taken(hub.join(ids[-3]), 2)) == 2
    assert await hub.join(ids[2]).next(begin) == b"beginning"
    assert sum(len(text) for _, text in hub._kept) <= 1024 * 1024


async def test_all_begin_anew_when_too_much_has_changed() -> None:
    hub = Hub()
    reader = hub.join(None)
    await reader.next(begin)
    hub.send("change", b"1")
    before = hub.last_id
    hub.begin_anew()
    await reader.next(begin)
    assert await reader.next(begin) == b"beginning"
    assert await hub.join(before).next(begin) == b"beginning"


async def test_who_falls_behind_is_dropped_and_the_others_are_not() -> None:
    hub = Hub()
    slow, quick = hub.join(hub.last_id), hub.join(hub.last_id)
    for number in range(QUEUED + 1):
        hub.send("change", b"%d" % number)
        assert f"data: {number}\n".encode() in (await quick.next(begin) or b"")
    assert slow.closed
    assert await slow.next(begin) is None
    assert not slow._waiting, "what it did not read takes no memory"


async def test_a_silent_stream_has_a_heartbeat(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_stream, "HEARTBEAT_SECONDS", 0.01)
    hub = Hub()
    assert await hub.join(hub.last_id).next(begin) == b":\n\n"


async def test_stopping_ends_every_stream_and_those_that_come_later() -> None:
    hub = Hub()
    waiting = hub.join(hub.last_id)
    ended = asyncio.create_task(waiting.next(begin))
    await asyncio.sleep(0)
    hub.stop()
    assert await ended is None
    assert await hub.join(None).next(begin) is None


# Over the wire


class Streaming:
    """An application that is nothing but a stream."""

    def __init__(self) -> None:
        self.hub = Hub()
        self.ended = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        last_id = dict(scope["headers"]).get(b"last-event-id", b"").decode()
        await EventStream(self.hub, begin, last_id, self.ended.set)(scope, receive, send)


async def chunk(reader: asyncio.StreamReader) -> bytes:
    """One chunk of a chunked body, which is one event."""
    length = int(await reader.readline(), 16)
    return (await reader.readexactly(length + 2))[:-2]


REQUEST = b"GET / HTTP/1.1\r\nHost: x\r\n\r\n"


@pytest.fixture
async def streaming() -> AsyncIterator[tuple[Streaming, Live]]:
    app = Streaming()
    # Half a second to read what was written, for the sake of the one who does not.
    async with live(lambda _: app, Bounds(read_seconds=0.5)) as server:
        yield app, server
        app.hub.stop()


async def test_a_stream_over_http(streaming: tuple[Streaming, Live]) -> None:
    app, server = streaming
    reader, writer = await server.connect()
    writer.write(REQUEST)
    head = (await reader.readuntil(b"\r\n\r\n")).decode().lower()
    assert "content-type: text/event-stream; charset=utf-8\r\n" in head
    assert "cache-control: no-store\r\n" in head
    assert "content-length" not in head
    assert await reader.readuntil(b"beginning\r\n")
    app.hub.send("change", b"1")
    assert b"data: 1\n\n" in await reader.readuntil(b"\n\n\r\n")
    writer.close()
    async with asyncio.timeout(10):
        await app.ended.wait()
    assert len(app.hub) == 0


async def test_a_stream_keeps_nothing_that_was_sent() -> None:
    """A board may have 250 kB, and thousands may listen."""

    gone = asyncio.Event()

    class Board(bytes):
        """Bytes that say when they go."""

        def __del__(self) -> None:
            gone.set()

    async def send(message: MutableMapping[str, Any]) -> None:
        pass

    async def receive() -> MutableMapping[str, Any]:
        await asyncio.Event().wait()
        return {}

    stream = EventStream(Hub(), lambda: Board(b"data: board\n\n"), None, lambda: None)
    sending = asyncio.create_task(stream({"type": "http", "method": "GET"}, receive, send))
    async with asyncio.timeout(10):  # less than the next heartbeat takes to come
        await gone.wait()
    sending.cancel()
    await asyncio.gather(sending, return_exceptions=True)


async def test_a_head_request_ends_at_once(streaming: tuple[Streaming, Live]) -> None:
    app, server = streaming
    answer = await server.exchange(
        REQUEST.replace(b"GET", b"HEAD").replace(b"x\r\n", b"x\r\nConnection: close\r\n")
    )
    assert answer.startswith(b"HTTP/1.1 200 ")
    assert answer.endswith(b"\r\n\r\n")
    assert app.ended.is_set()


async def test_the_server_ends_a_stream_whole(streaming: tuple[Streaming, Live]) -> None:
    app, server = streaming
    reader, writer = await server.connect()
    writer.write(REQUEST.replace(b"x\r\n", b"x\r\nConnection: close\r\n"))
    await reader.readuntil(b"beginning\r\n")
    app.hub.stop()
    assert (await reader.read()).endswith(b"0\r\n\r\n"), "the last chunk of a whole answer"
    writer.close()


async def test_a_client_that_never_reads_is_cut_and_costs_little(streaming: tuple[Streaming, Live]) -> None:
    """Sixty megabytes are sent: what is kept for it is bounded, and another client gets all of them."""
    app, server = streaming
    _, never = await server.connect()
    never.write(REQUEST)
    never.transport.pause_reading()  # type: ignore[attr-defined]
    reader, writer = await server.connect()
    writer.write(REQUEST)
    await reader.readuntil(b"beginning\r\n")
    text = b"x" * 100_000
    most_waiting = 0
    for number in range(600):
        app.hub.send("change", text + b"%d" % number)
        assert (await chunk(reader)).endswith(b"x%d\n\n" % number)
        most_waiting = max(
            most_waiting,
            sum(c.transport.get_write_buffer_size() for c in server.server.server_state.connections),  # type: ignore[union-attr]
        )
    assert most_waiting < 2_000_000
    async with asyncio.timeout(10):
        await app.ended.wait()
    assert len(app.hub) == 1
    writer.close()
    never.close()
