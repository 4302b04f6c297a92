"""One HTTP connection: what uvicorn lets a client do without end is bounded here.

A request must come whole within some seconds and a few kilobytes of head, and its answer must be read; one
address holds only a part of all connections. Faults that never reach the application get problem documents.
"""

from __future__ import annotations

import logging
import math
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httptools
from uvicorn.protocols.http.httptools_impl import STATUS_LINE, HttpToolsProtocol, RequestResponseCycle

from app.web.cors import ANYBODY
from app.web.edge import security_headers
from app.web.origin import Origins
from app.web.problems import Problem
from app.web.room import Room

if TYPE_CHECKING:
    import asyncio

log = logging.getLogger(__name__)

# Descriptors that are not for clients: the database, relays, files.
_RESERVED = 64
_MOST_CONNECTIONS = 10_000
_REPORT_EVERY = 60.0
_NEVER = math.inf


def _most_connections() -> int:
    """How many clients this process can hold."""
    try:
        import resource
    except ImportError:  # Windows has no such limit
        return _MOST_CONNECTIONS
    soft, _ = resource.getrlimit(resource.RLIMIT_NOFILE)
    if soft == resource.RLIM_INFINITY:
        return _MOST_CONNECTIONS
    return max(1, min(_MOST_CONNECTIONS, soft - _RESERVED))


@dataclass(frozen=True, slots=True)
class Bounds:
    """What a connection may cost.

    Attributes:
        head_seconds: from the first byte of a request, or the connection, to the end of its header fields.
        body_seconds: from there to the end of the body.
        read_seconds: for the client to read what was sent.
        linger_seconds: for the client to close after a request that is refused here.
        idle_seconds: between two requests; longer than proxies keep theirs, so that these close first.
        head_bytes: request line and header fields.
        url_bytes: path and query.
        connections: at once; half of them from one address, so that a flood leaves room for others.
    """

    head_seconds: float = 10
    body_seconds: float = 20
    read_seconds: float = 30
    linger_seconds: float = 2
    idle_seconds: int = 75
    head_bytes: int = 16 * 1024
    url_bytes: int = 4 * 1024
    connections: int = _most_connections()


class Guard:
    """What the connections of one server share.

    Args:
        public_url: what a problem's type begins with.
        origins: knows the proxies, which may hold any number of connections.
    """

    def __init__(self, public_url: str, origins: Origins | None = None, bounds: Bounds | None = None) -> None:
        self.bounds = bounds or Bounds()
        self._public_url = public_url
        self._origins = origins or Origins()
        self._security = security_headers(public_url)
        self._room = Room(self.bounds.connections)
        self._refused = 0
        self._report_at = 0.0

    def admit(self, host: str) -> bool:
        """Take a connection in, unless there are too many."""
        if self._room.admit(host, shared=self._origins.trusts(host)):
            return True
        self._refused += 1
        return False

    def release(self, host: str) -> None:
        """A connection that was taken in has ended."""
        self._room.release(host)

    def report(self, now: float) -> None:
        """Log what was refused, once in a while."""
        if self._refused and now >= self._report_at:
            log.warning("%d connections were refused: too many at once", self._refused)
            self._refused = 0
            self._report_at = now + _REPORT_EVERY

    def last_answer(self, problem: Problem) -> bytes:
        """A whole response, after which the connection closes."""
        response = problem.response(self._public_url)
        headers = [*response.raw_headers, *self._security, *ANYBODY, (b"connection", b"close")]
        lines = b"".join(b"%b: %b\r\n" % header for header in headers)
        return b"%b%b\r\n%b" % (STATUS_LINE[response.status_code], lines, bytes(response.body))


class Connection(HttpToolsProtocol):
    """uvicorn's connection within bounds; `sweep` must be called again and again."""

    def __init__(self, guard: Guard, **options: Any) -> None:
        super().__init__(**options)
        self._guard = guard
        self._bounds = guard.bounds
        self._host: str | None = None
        self._in_head = True  # no request is half read, or the half is not its whole head
        self._head_bytes = 0  # of chunks that came since the last request, so never less than the head's own
        self._refused = False
        self._whole_by = _NEVER  # when what is being read must have come
        self._read_by = _NEVER  # when what was written must have been read

    def connection_made(self, transport: asyncio.Transport) -> None:  # type: ignore[override]
        """Begin to wait for a request, if there is room."""
        super().connection_made(transport)
        host = self.client[0] if self.client else ""
        if self._guard.admit(host):
            self._host = host
            self._whole_by = self.loop.time() + self._bounds.head_seconds
        else:
            transport.write(self._guard.last_answer(Problem("overloaded", headers={"Retry-After": "5"})))
            transport.close()

    def connection_lost(self, exc: Exception | None) -> None:
        """Give the room back."""
        super().connection_lost(exc)
        if self._host is not None:
            self._guard.release(self._host)

    def data_received(self, data: bytes) -> None:
        """Parse what came."""
        if self._refused:
            return
        self._unset_keepalive_if_required()
        self._head_bytes += len(data)
        if self._whole_by == _NEVER:
            self._whole_by = self.loop.time() + self._bounds.head_seconds
        try:
            self.parser.feed_data(data)
        except httptools.HttpParserUpgrade:
            self.cycle.keep_alive = False  # no other protocol is spoken here, and the parser goes no further
        except httptools.HttpParserError as error:
            fault = error.__context__
            self._refuse(fault if isinstance(fault, Problem) else Problem("malformed-request"))
        else:
            if self._in_head and self._head_bytes > self._bounds.head_bytes:
                self._refuse(self._oversize())

    def on_message_begin(self) -> None:
        """The first line of a request begins."""
        super().on_message_begin()
        self._head_bytes = self._head_bytes or 1  # it came in one chunk with the request before
        self._whole_by = self.loop.time() + self._bounds.head_seconds

    def on_headers_complete(self) -> None:
        """Start the application, if the head is in order."""
        if len(self.url) > self._bounds.url_bytes or (
            # Nearly every request comes in one chunk that is smaller than its head may be.
            self._head_bytes > self._bounds.head_bytes
            and sum(len(name) + len(value) for name, value in self.headers) > self._bounds.head_bytes
        ):
            raise self._oversize()
        hosts = [name for name, _ in self.headers].count(b"host")
        if hosts != 1 and (hosts or self.parser.get_http_version() == "1.1"):
            raise Problem("malformed-request", "Send exactly one Host header (RFC 9112, section 3.2).")
        super().on_headers_complete()
        self._in_head = False
        self._whole_by = self.loop.time() + self._bounds.body_seconds

    def on_message_complete(self) -> None:
        """The request has come whole."""
        super().on_message_complete()
        self._in_head = True
        self._head_bytes = 0
        self._whole_by = _NEVER

    def pause_writing(self) -> None:
        """The client does not read as fast as we write."""
        super().pause_writing()
        self._read_by = self.loop.time() + self._bounds.read_seconds

    def resume_writing(self) -> None:
        """The client has caught up."""
        super().resume_writing()
        if not self._refused:
            self._read_by = _NEVER

    def sweep(self, now: float) -> None:
        """Cut a client that is too slow."""
        if now >= self._read_by:
            self.transport.abort()
        elif self.transport.is_closing():
            self._read_by = min(self._read_by, now + self._bounds.read_seconds)
        elif now >= self._whole_by:
            if self.flow.read_paused:  # it is us who do not read
                self._whole_by = now + self._bounds.body_seconds
            elif self._head_bytes:
                self._refuse(Problem("request-timeout"))
            else:
                self.transport.close()

    def _oversize(self) -> Problem:
        if len(self.url) > self._bounds.url_bytes:
            return Problem(
                "address-too-long", f"Send at most {self._bounds.url_bytes} bytes of path and query."
            )
        return Problem("header-too-large", f"Send at most {self._bounds.head_bytes} bytes of header fields.")

    def _refuse(self, problem: Problem) -> None:
        """Answer a fault of the request that is being read, and close."""
        self._whole_by = _NEVER
        cycle: RequestResponseCycle | None = self.cycle
        if self._in_head and cycle is not None and not cycle.response_complete:
            cycle.keep_alive = (
                False  # an earlier request is still being answered, and that is the last answer
            )
            return
        if self._in_head or cycle is None:
            self.transport.write(self._guard.last_answer(problem))
        else:
            if not cycle.response_started and not self.pipeline:
                self.transport.write(self._guard.last_answer(problem))
            cycle.disconnected = True
            cycle.message_event.set()
        # A close before all is read would reset the connection, and the answer might never be seen (RFC 9112,
        # section 9.6): so the client gets a moment to close it.
        self._refused = True
        self._read_by = self.loop.time() + self._bounds.linger_seconds
        if self.transport.can_write_eof():
            self.transport.write_eof()
