"""The cheapest relay that a benchmark can deliver to: it answers OK true to every EVENT, has nothing for
any REQ, and tells nothing of itself (NIP-11).

`python -m tests.relays.bare` prints its URL and runs until its standard input is closed.
"""

from __future__ import annotations

import asyncio
import re
import subprocess
import sys
from contextlib import contextmanager
from typing import TYPE_CHECKING, cast

from websockets.utils import accept_key, apply_mask

if TYPE_CHECKING:
    from collections.abc import Iterator
    from contextlib import AbstractContextManager

_KEY = re.compile(rb"sec-websocket-key: *(\S+)", re.IGNORECASE)
_ID = re.compile(rb'"id" ?: ?"([0-9a-f]{64})"')
_REQ = re.compile(rb'\["REQ", ?("[^"]+")')
_TEXT, _CLOSE, _PING = 0x81, 0x88, 0x89
_OK_HEAD = b'\x81\x51["OK","'  # a final text frame of 81 bytes
_OK_TAIL = b'",true,""]'


class BareRelay(asyncio.Protocol):
    """One connection."""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        self.open = False
        self.rest = b""
        self.answers: list[bytes] = []

    def data_received(self, data: bytes) -> None:
        data = self.rest + data
        if not self.open:
            head, end, data = data.partition(b"\r\n\r\n")
            if not end:
                self.rest = head
                return
            if (found := _KEY.search(head)) is None:
                self.transport.write(b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
                self.rest = data
                return
            self.open = True
            key = found[1].decode()
            self.transport.write(
                b"HTTP/1.1 101 Switching Protocols\r\nUpgrade: websocket\r\nConnection: Upgrade\r\n"
                b"Sec-WebSocket-Accept: " + accept_key(key).encode() + b"\r\n\r\n"
            )
        at, answers = 0, self.answers
        while (frame := _frame(data, at)) is not None:
            opcode, payload, at = frame
            if opcode == _TEXT:
                self.on_text(payload)
            elif opcode == _PING:
                answers.append(bytes([0x8A, len(payload)]) + payload)
            elif opcode == _CLOSE:
                answers.append(bytes([0x88, len(payload)]) + payload)
        self.rest = data[at:]
        if answers:
            self.transport.write(b"".join(answers))
            answers.clear()

    def on_text(self, payload: bytes) -> None:
        """Answer a message."""
        if (found := _ID.search(payload)) is not None:
            self.answers.append(_OK_HEAD + found[1] + _OK_TAIL)
        elif (found := _REQ.match(payload)) is not None:
            self.answers.append(text_frame(b'["EOSE",' + found[1] + b"]"))


def text_frame(data: bytes) -> bytes:
    """A message as one frame without a mask, as servers send it."""
    size = len(data)
    if size < 126:
        return bytes([_TEXT, size]) + data
    assert size < 65536
    return bytes([_TEXT, 126]) + size.to_bytes(2) + data


def _frame(data: bytes, at: int) -> tuple[int, bytes, int] | None:
    """The masked frame at this offset (opcode byte, payload, end), or None if it is not all there."""
    if len(data) < at + 6:
        return None
    length, mask = data[at + 1] & 0x7F, at + 2
    if length == 126:
        length, mask = int.from_bytes(data[at + 2 : at + 4]), at + 4
    elif length == 127:
        length, mask = int.from_bytes(data[at + 2 : at + 10]), at + 10
    start = mask + 4
    end = start + length
    if len(data) < end:
        return None
    return data[at], apply_mask(data[start:end], data[mask:start]), end


@contextmanager
def relay_process(module: str, *arguments: str) -> Iterator[str]:
    """A relay whose module calls `serve`, in a process of its own; gives its URL."""
    command = [sys.executable, "-m", module, *arguments]
    with subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as process:
        assert process.stdin is not None
        assert process.stdout is not None
        yield process.stdout.readline().strip()
        process.stdin.close()


def bare_relay() -> AbstractContextManager[str]:
    """A bare relay in a process of its own; gives its URL."""
    return relay_process("tests.relays.bare")


async def serve(relay: type[BareRelay]) -> None:
    """Print the relay's URL and run until the standard input is closed."""
    loop = asyncio.get_running_loop()
    server = await loop.create_server(relay, "127.0.0.1", 0)
    host, port = server.sockets[0].getsockname()
    print(f"ws://{host}:{port}", flush=True)
    await loop.run_in_executor(None, sys.stdin.read)


if __name__ == "__main__":
    import uvloop

    uvloop.run(serve(BareRelay))
