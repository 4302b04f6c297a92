"""Server-sent events (WHATWG HTML, section 9.2) to many readers, none of whom can hold up another."""

from __future__ import annotations

import asyncio
import secrets
from collections import deque
from typing import TYPE_CHECKING

from starlette.responses import Response

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.types import Receive, Scope, Send

HEARTBEAT_SECONDS = 15.0
"""Proxies close what is silent for a minute or so, and only a write shows that a client is gone."""

QUEUED = 64
"""Messages that may wait for a reader; who falls further behind is dropped, and comes back by itself."""

_KEPT_BYTES = 1024 * 1024  # of messages that a reader who comes back is still told
_HEARTBEAT = b":\n\n"


def message(event: str, data: bytes, event_id: str) -> bytes:
    """One event; `data` is one line, as JSON is."""
    return b"event: %b\nid: %b\ndata: %b\n\n" % (event.encode(), event_id.encode(), data)


class Reader:
    """What waits to be sent to one client."""

    def __init__(self) -> None:
        self._waiting: deque[bytes | None] = deque()
        self._wake = asyncio.Event()
        self.closed = False

    def offer(self, text: bytes | None) -> None:
        """Give it a message; None stands for the beginning anew. Never blocks."""
        if len(self._waiting) >= QUEUED:
            self.close()
        elif not self.closed:
            self._waiting.append(text)
            self._wake.set()

    def close(self) -> None:
        """Send it no more."""
        self.closed = True
        self._waiting.clear()
        self._wake.set()

    async def next(self, begin: Callable[[], bytes]) -> bytes | None:
        """The next message, or a heartbeat; None when it is over. `begin` gives the beginning anew."""
        if not self._waiting and not self.closed:
            self._wake.clear()
            try:
                async with asyncio.timeout(HEARTBEAT_SECONDS):
                    await self._wake.wait()
            except TimeoutError:
                return _HEARTBEAT
        if self.closed:
            return None
        text = self._waiting.popleft()
        if text is None:
            self._waiting.clear()  # the beginning holds it all
            return begin()
        return text


class Hub:
    """Sends the same events to all readers, and what they missed to those that come back."""

    def __init__(self) -> None:
        self._readers: set[Reader] = set()
        self._epoch = secrets.token_hex(4)  # ids of another process mean nothing here
        self._count = 0
        self._kept: deque[tuple[int, bytes]] = deque()
        self._kept_bytes = 0
        self.stopped = False

    def __len__(self) -> int:
        return len(self._readers)

    @property
    def last_id(self) -> str:
        """The id of the last event."""
        return f"{self._epoch}-{self._count}"

    def join(self, last_id: str | None) -> Reader:
        """A new reader, who gets what came after `last_id` if that is still known, else begins anew."""
        reader = Reader()
        missed = self._since(last_id)
        if missed is None or len(missed) > QUEUED:
            missed = [None]
        for text in missed:
            reader.offer(text)
        if self.stopped:
            reader.close()
        self._readers.add(reader)
        return reader

    def leave(self, reader: Reader) -> None:
        """A reader is gone."""
        self._readers.discard(reader)

    def send(self, event: str, data: bytes) -> None:
        """Send an event to every reader."""
        self._count += 1
        text = message(event, data, self.last_id)
        self._kept.append((self._count, text))
        self._kept_bytes += len(text)
        while self._kept_bytes > _KEPT_BYTES:
            self._kept_bytes -= len(self._kept.popleft()[1])
        for reader in self._readers:
            reader.offer(text)

    def begin_anew(self) -> None:
        """Have every reader begin anew: more has changed than is worth telling."""
        self._count += 1
        self._kept.clear()
        self._kept_bytes = 0
        for reader in self._readers:
            reader.offer(None)

    def stop(self) -> None:
        """End every stream."""
        self.stopped = True
        for reader in self._readers:
            reader.close()

    def _since(self, last_id: str | None) -> list[bytes | None] | None:
        epoch, _, count = (last_id or "").partition("-")
        if epoch != self._epoch or not count.isdecimal() or len(count) > 15:
            return None
        known = int(count)
        oldest = self._kept[0][0] if self._kept else self._count + 1
        if not oldest - 1 <= known <= self._count:
            return None
        return [text for number, text in self._kept if number > known]


class EventStream(Response):
    """An answer that goes on until its reader or the server leaves.

    Args:
        begin: the message with which a reader begins, anew if need be.
        last_id: what the client has had already, from its Last-Event-ID.
        ended: called in the end.
    """

    media_type = "text/event-stream"

    def __init__(
        self, hub: Hub, begin: Callable[[], bytes], last_id: str | None, ended: Callable[[], None]
    ) -> None:
        # A proxy must neither keep nor gather it.
        super().__init__(headers={"Cache-Control": "no-store", "X-Accel-Buffering": "no"})
        del self.headers["content-length"]
        self._hub = hub
        self._begin = begin
        self._last_id = last_id
        self._ended = ended

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send events until the end."""
        reader = self._hub.join(self._last_id)
        gone = asyncio.create_task(_until_gone(receive, reader))
        try:
            start = {"type": "http.response.start", "status": 200, "headers": self.raw_headers}
            await send(start)
            while scope["method"] != "HEAD" and (text := await reader.next(self._begin)) is not None:
                await send({"type": "http.response.body", "body": text, "more_body": True})
                del text  # a board is long, and the next message may be hours away
            await send({"type": "http.response.body", "body": b""})
        finally:
            gone.cancel()
            self._hub.leave(reader)
            self._ended()


async def _until_gone(receive: Receive, reader: Reader) -> None:
    while (await receive())["type"] != "http.disconnect":
        pass
    reader.close()
