"""The only file that opens a websocket: RFC 6455 by `websockets`' protocol without IO, over asyncio.

Many messages leave in one write, every message of one read arrives in one call, and compression stays off:
a signature does not compress.
"""

import asyncio
import functools
import logging
import os
import re
import ssl
from collections.abc import Callable, Iterable, Sequence
from typing import Protocol, cast

from websockets.client import ClientProtocol
from websockets.exceptions import InvalidURI
from websockets.frames import CloseCode
from websockets.protocol import State
from websockets.uri import parse_uri

from app.delivery.answer import one_line
from app.delivery.flood import Flood
from app.delivery.frames import text_frame
from app.delivery.incoming import Incoming

CONNECT_SECONDS = 10.0
PING_SECONDS = 20.0
CLOSE_SECONDS = 1.0
MESSAGE_LIMIT = 4 * 1024 * 1024
READ_SIZE = 64 * 1024
WRITE_LIMIT = 8 * 1024 * 1024
"""More waits to be read by a relay that reads nothing than we would ever send one that does."""

FRAMES_PER_MESSAGE = 8
"""Further frames are of no use, and so is a read in which no message ends."""

THROTTLE_LIMIT_SECONDS = 5.0


_STATUS_LINE = re.compile(rb"HTTP/\d\.\d (\d{3})")
# Frames are never logged: the library's own logger would write them out at level DEBUG.
_quiet = logging.getLogger("app.delivery.websocket")
_quiet.setLevel(logging.INFO)


class ConnectError(Exception):
    """No websocket connection came about; the message says why."""


class Receiver(Protocol):
    """Whoever a connection works for; called on the event loop."""

    def received(self, messages: list[bytes]) -> None:
        """Messages arrived. A binary one, which Nostr does not have, comes as empty text."""
        ...

    def writable(self) -> None:
        """The relay has caught up with reading: `Connection.ready` is true again."""
        ...


async def connect(url: str, receiver: Receiver) -> "Connection":
    """Open a connection; what the relay sends goes to the receiver from its first byte on.

    Raises:
        ConnectError: No such host, refused, TLS failure, no upgrade, or not within ten seconds.
    """
    loop = asyncio.get_running_loop()
    connection: Connection | None = None
    try:
        uri = parse_uri(url)
        async with asyncio.timeout(CONNECT_SECONDS):
            _, connection = await loop.create_connection(
                lambda: Connection(ClientProtocol(uri, max_size=MESSAGE_LIMIT, logger=_quiet), receiver),
                uri.host,
                uri.port,
                ssl=tls_context() if uri.secure else None,
            )
            await connection.opened
    except TimeoutError:
        reason = f"no websocket handshake within {CONNECT_SECONDS:.0f} s"
    except (OSError, InvalidURI, UnicodeError) as error:
        reason = one_line(str(error) or type(error).__name__)
    except ConnectError as error:
        reason = str(error)
    else:
        return connection
    finally:
        if connection is not None and not connection.is_open:
            connection.abort()
    raise ConnectError(reason)


@functools.cache
def tls_context() -> ssl.SSLContext:
    """Trust in the certificates of the system, or of `SSL_CERT_FILE`; loading them takes a while."""
    return ssl.create_default_context()


class Connection(asyncio.BufferedProtocol):
    """An open websocket.

    Attributes:
        opened: Done when the handshake is; raises ConnectError if it came to nothing.
        lost: Done when the socket is closed, with the reason on one line.
        ready: Whether more may be sent now; false while the relay is slow to read.
    """

    def __init__(self, protocol: ClientProtocol, receiver: Receiver) -> None:
        loop = asyncio.get_running_loop()
        self.opened: asyncio.Future[None] = loop.create_future()
        self.lost: asyncio.Future[str] = loop.create_future()
        self.ready = True
        self._loop = loop
        self._protocol = protocol
        self._receiver = receiver
        self._buffer = bytearray(READ_SIZE)
        self._incoming = Incoming(protocol, MESSAGE_LIMIT)
        self._flood = Flood()
        self._heard = True
        self._pinged = False
        self._reason = ""
        self._timers: dict[Callable[[], None], tuple[float, asyncio.TimerHandle]] = {}

    @property
    def is_open(self) -> bool:
        """Whether messages can be sent."""
        return self._protocol.state is State.OPEN and not self._transport.is_closing()

    def send(self, messages: Sequence[str]) -> None:
        """Send messages in one write; does nothing when the connection is not open."""
        if self.is_open:
            masks = os.urandom(4 * len(messages))
            self._write(text_frame(text, masks[4 * i : 4 * i + 4]) for i, text in enumerate(messages))

    def throttle(self, seconds: float) -> None:
        """Read nothing for a while, five seconds at most: a flood has to wait in the relay's own buffers."""
        if not self._transport.is_closing():
            self._transport.pause_reading()
            self._later(min(seconds, THROTTLE_LIMIT_SECONDS), self._transport.resume_reading)

    def close(self) -> None:
        """Begin the closing handshake; the socket is closed within a second whatever the relay does."""
        if self.is_open:
            self._reason = "closed by us"
            self._protocol.send_close(CloseCode.GOING_AWAY)
            self._flush()
        else:
            self.abort()

    def abort(self, reason: str = "closed by us") -> None:
        """Drop the socket at once."""
        self._reason = self._reason or reason
        self._transport.abort()

    # asyncio's side

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        """Send the upgrade request."""
        self._transport = cast("asyncio.Transport", transport)
        self._protocol.send_request(self._protocol.connect())
        self._flush()

    def get_buffer(self, sizehint: int) -> bytearray:
        """One fixed buffer: a read is never larger, however fast the relay writes."""
        return self._buffer

    def buffer_updated(self, nbytes: int) -> None:
        """Parse what was read and hand over the messages in it."""
        data = bytes(self._buffer[:nbytes])
        self._heard = True
        if not self.opened.done():
            data = self._shake_hands(data)
            if not self.is_open:
                return
            self.opened.set_result(None)
            self._later(PING_SECONDS, self._check)
        messages, others = self._incoming.feed(data)
        self._rest(others, messages)
        self._flush()
        if messages:
            self._receiver.received(messages)

    def eof_received(self) -> None:
        """The relay closed its side: asyncio then closes ours."""
        if not self._protocol.reader.eof:
            self._protocol.receive_eof()

    def connection_lost(self, exc: Exception | None) -> None:
        """The socket is gone; say why."""
        for _, timer in self._timers.values():
            timer.cancel()
        close = self._protocol.close_rcvd
        reason = self._reason or (str(close) if close else "") or (str(exc) if exc else "")
        reason = one_line(reason or "closed by the relay without a word")
        if not self.opened.done():
            self.opened.set_exception(ConnectError(reason))
            self.opened.exception()  # marks it as seen: a caller that timed out no longer asks
        if not self.lost.done():
            self.lost.set_result(reason)

    def pause_writing(self) -> None:
        """The relay reads more slowly than we write."""
        self.ready = False

    def resume_writing(self) -> None:
        """The relay caught up."""
        self.ready = True
        self._receiver.writable()

    # ours

    def _shake_hands(self, data: bytes) -> bytes:
        """Take the answer to the upgrade request; returns the frames that follow it."""
        if (status := _STATUS_LINE.match(data)) and status[1] != b"101":
            self.abort(f"the relay answered HTTP {status[1].decode()} instead of a websocket upgrade")
            return b""
        at = 0
        while at < len(data) and self._protocol.state is State.CONNECTING:
            end = data.find(b"\n", at) + 1 or len(data)
            self._protocol.receive_data(data[at:end])
            at = end
            if self._protocol.handshake_exc is not None:
                self.abort(f"no websocket: {_first_cause(self._protocol.handshake_exc)}")
                return b""
        return data[at:]

    def _rest(self, others: int, messages: Sequence[bytes]) -> None:
        """Read more slowly from a relay that sends many frames, or single bytes, for few messages."""
        useless = max(others - FRAMES_PER_MESSAGE * len(messages), 0) + (not messages)
        if useless and (rest := self._flood.rest(useless, 0, self._loop.time())):
            self.throttle(rest)

    def _flush(self) -> None:
        """Write what the protocol wants written, and see to it that a closing handshake ends."""
        if writes := self._protocol.data_to_send():
            self._write(writes)
        if error := self._protocol.parser_exc:
            self._reason = self._reason or f"the relay broke the websocket protocol: {error}"
        if self._protocol.close_expected() and self._transport.abort not in self._timers:
            self._later(CLOSE_SECONDS, self._transport.abort)

    def _write(self, frames: Iterable[bytes]) -> None:
        if not self._transport.is_closing():
            self._transport.write(b"".join(frames))
            if self._transport.get_write_buffer_size() > WRITE_LIMIT:
                self.abort("the relay does not read what it is sent")

    def _later(self, seconds: float, act: Callable[[], None]) -> None:
        """Do something later, once, as long as the socket lives; of two times the later one counts."""
        at = self._loop.time() + seconds
        if (before := self._timers.get(act)) is not None:
            at = max(at, before[0])
            before[1].cancel()
        self._timers[act] = at, self._loop.call_at(at, act)

    def _check(self) -> None:
        """Keep the connection alive and drop it when the relay has fallen silent."""
        if self._pinged and not self._heard:
            self.abort(f"no pong within {PING_SECONDS:.0f} s")
            return
        self._pinged, self._heard = True, False
        if self.is_open:
            self._protocol.send_ping(b"")
            self._flush()
        self._later(PING_SECONDS, self._check)


def _first_cause(error: Exception) -> str:
    return one_line(str(error.__cause__ or error))
