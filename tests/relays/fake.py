"""A relay on a real socket that speaks exact NIP-01 and can be told to misbehave.

A script is a set of functions that act on a `Peer`, one per thing that can happen; each may be swapped while
the relay runs. What the relay saw can be awaited with `until`, so that no test has to sleep.
"""

from __future__ import annotations

import asyncio
import json
import socket
import struct
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any, cast

from websockets.frames import Frame, Opcode
from websockets.http11 import Request
from websockets.server import ServerProtocol

if TYPE_CHECKING:
    import ssl

Event = dict[str, Any]
OnPeer = Callable[["Peer"], None]
OnEvent = Callable[["Peer", Event], None]
OnReq = Callable[["Peer", str, list[dict[str, Any]]], None]

PONG_BYTE = 0x8A


def upgrade(peer: Peer, request: Request) -> None:
    """Shake hands; what `on_open` says leaves in the packet of the handshake."""
    peer.protocol.send_response(peer.protocol.accept(request))
    peer.relay.on_open(peer)
    peer.flush()


def respond(status: int) -> Callable[[Peer, Request], None]:
    """Answer the upgrade request with plain HTTP."""

    def reject(peer: Peer, request: Request) -> None:
        peer.protocol.send_response(peer.protocol.reject(status, "no websocket here\n"))
        peer.flush()

    return reject


def inform(document: str, **headers: str) -> Callable[[Peer, Request], None]:
    """Shake hands, and answer what asks for the relay's information (NIP-11) with a document."""

    def on_handshake(peer: Peer, request: Request) -> None:
        if request.headers.get("Upgrade"):
            upgrade(peer, request)
            return
        assert request.headers["Accept"] == "application/nostr+json"
        head = {"Content-Length": str(len(document.encode())), **headers}
        lines = "".join(f"{name}: {value}\r\n" for name, value in head.items())
        peer.transport.write(f"HTTP/1.1 200 OK\r\n{lines}\r\n{document}".encode())

    return on_handshake


def never(peer: Peer, request: Request) -> None:
    """Leave the handshake unanswered."""


def nothing(peer: Peer, *_: object) -> None:
    """Do nothing."""


def ok(accepted: bool = True, message: str = "") -> OnEvent:
    """Answer every EVENT alike."""
    return lambda peer, event: peer.send("OK", event["id"], accepted, message)


def text(make: Callable[[str], str]) -> OnEvent:
    """Answer every EVENT with raw text made from its id."""
    return lambda peer, event: peer.send_text(make(event["id"]))


def closing(code: int, reason: str = "") -> OnEvent:
    """Close instead of answering."""
    return lambda peer, event: peer.close(code, reason)


def resetting(peer: Peer, event: Event | None = None) -> None:
    """Reset the TCP connection instead of answering."""
    peer.reset()


def in_turn(*acts: Callable[..., None]) -> Callable[..., None]:
    """Do the first with the first EVENT or REQ, and so on; the last one for all that follow."""
    left = list(acts)
    return lambda *told: (left.pop(0) if len(left) > 1 else left[0])(*told)


def store(peer: Peer, event: Event) -> None:
    """Keep the event and say so, like an honest relay."""
    peer.relay.stored[event["id"]] = event
    peer.send("OK", event["id"], True, "")


def query(peer: Peer, subscription: str, filters: list[dict[str, Any]]) -> None:
    """Answer a REQ from what is stored, newest first."""
    for event in sorted(peer.relay.stored.values(), key=lambda event: -event["created_at"]):
        if any(_matches(event, wanted) for wanted in filters):
            peer.send("EVENT", subscription, event)
    peer.send("EOSE", subscription)


def capped(cap: int) -> OnReq:
    """Answer a REQ like an honest relay that sends so many events at once, newest first, then lowest id."""

    def answer(peer: Peer, subscription: str, filters: list[dict[str, Any]]) -> None:
        stored = sorted(peer.relay.stored.values(), key=lambda event: (-event["created_at"], event["id"]))
        for wanted in filters:
            found = [event for event in stored if _matches(event, wanted)]
            texts = [json.dumps(["EVENT", subscription, event]) for event in found]
            peer.send_text(*texts[: min(cap, wanted.get("limit", cap))])
        peer.send("EOSE", subscription)

    return answer


def _matches(event: Event, wanted: dict[str, Any]) -> bool:
    d = next((tag[1] for tag in event["tags"] if tag[0] == "d"), "")
    return (
        event["id"] in wanted.get("ids", [event["id"]])
        and event["kind"] in wanted.get("kinds", [event["kind"]])
        and event["pubkey"] in wanted.get("authors", [event["pubkey"]])
        and d in wanted.get("#d", [d])
        and ("#e" not in wanted or any(tag[0] == "e" and tag[1] in wanted["#e"] for tag in event["tags"]))
        and wanted.get("since", 0) <= event["created_at"] <= wanted.get("until", event["created_at"])
    )


@dataclass(eq=False)
class FakeRelay:
    """The relay; `async with FakeRelay(on_event=ok()) as relay:`.

    Attributes:
        events: Every EVENT received, in order, over all connections; `raw` holds their JSON text.
        auths: Every AUTH event received.
        reqs: The filters of every REQ received.
        attempts: When each connection was accepted, on the loop's clock.
        open_sockets: How many connections are open now; `peak_sockets` is the most there ever were.
    """

    on_event: OnEvent = store
    on_open: OnPeer = nothing
    on_auth: OnEvent = nothing
    on_req: OnReq = query
    on_handshake: Callable[[Peer, Request], None] = upgrade
    on_accept: OnPeer = nothing
    pong: bool = True
    tls: ssl.SSLContext | None = None
    events: list[Event] = field(default_factory=list)
    raw: list[str] = field(default_factory=list)
    auths: list[Event] = field(default_factory=list)
    reqs: list[list[dict[str, Any]]] = field(default_factory=list)
    stored: dict[str, Event] = field(default_factory=dict)
    attempts: list[float] = field(default_factory=list)
    peers: list[Peer] = field(default_factory=list)
    open_sockets: int = 0
    peak_sockets: int = 0
    _waiters: list[tuple[Callable[[], bool], asyncio.Future[None]]] = field(default_factory=list)

    async def __aenter__(self) -> FakeRelay:
        loop = asyncio.get_running_loop()
        self._server = await loop.create_server(lambda: Peer(self), "127.0.0.1", 0, ssl=self.tls)
        self.port = self._server.sockets[0].getsockname()[1]
        self.url = f"{'wss' if self.tls else 'ws'}://127.0.0.1:{self.port}"
        return self

    async def __aexit__(self, *_: object) -> None:
        await self.stop()

    async def stop(self) -> None:
        """Stop listening and drop every connection."""
        self._server.close()
        for peer in self.peers:
            peer.transport.abort()
        await self._server.wait_closed()
        await self.until(lambda: self.open_sockets == 0)

    async def until(self, condition: Callable[[], bool]) -> None:
        """Wait until the condition on what was seen holds."""
        if not condition():
            future = asyncio.get_running_loop().create_future()
            self._waiters.append((condition, future))
            await future

    def noticed(self) -> None:
        """Something was seen: wake those who waited for it."""
        for waiter in list(self._waiters):
            condition, future = waiter
            if condition():
                self._waiters.remove(waiter)
                if not future.done():
                    future.set_result(None)


class Peer(asyncio.Protocol):
    """One client's connection to the fake relay."""

    def __init__(self, relay: FakeRelay) -> None:
        self.relay = relay
        self.protocol = ServerProtocol()

    def send(self, *parts: object) -> None:
        """Send a message."""
        self.send_text(json.dumps(parts))

    def send_text(self, *texts: str) -> None:
        """Send raw text messages in one write."""
        for one in texts:
            self.protocol.send_text(one.encode())
        self.flush()

    def send_binary(self, data: bytes) -> None:
        """Send a binary message."""
        self.protocol.send_binary(data)
        self.flush()

    def send_in_fragments(self, *parts: str) -> None:
        """Send one text message in several frames."""
        self.protocol.send_text(parts[0].encode(), fin=False)
        for part in parts[1:-1]:
            self.protocol.send_continuation(part.encode(), fin=False)
        self.protocol.send_continuation(parts[-1].encode(), fin=True)
        self.flush()

    def close(self, code: int = 1000, reason: str = "") -> None:
        """Begin the closing handshake."""
        self.protocol.send_close(code, reason)
        self.flush()

    def reset(self) -> None:
        """Drop the connection with a TCP reset."""
        sock = cast("socket.socket", self.transport.get_extra_info("socket"))
        sock.setsockopt(socket.SOL_SOCKET, socket.SO_LINGER, struct.pack("ii", 1, 0))
        self.transport.abort()

    def flush(self) -> None:
        """Write what the protocol has to say, in one write."""
        writes = self.protocol.data_to_send()
        data = b"".join(part for part in writes if self.relay.pong or part[:1] != bytes([PONG_BYTE]))
        if data and not self.transport.is_closing():
            self.transport.write(data)
        if b"" in writes:
            self.transport.close()

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = cast("asyncio.Transport", transport)
        relay = self.relay
        relay.peers.append(self)
        relay.attempts.append(asyncio.get_running_loop().time())
        relay.open_sockets += 1
        relay.peak_sockets = max(relay.peak_sockets, relay.open_sockets)
        relay.on_accept(self)
        relay.noticed()

    def connection_lost(self, exc: Exception | None) -> None:
        self.relay.peers.remove(self)
        self.relay.open_sockets -= 1
        self.relay.noticed()

    def data_received(self, data: bytes) -> None:
        self.protocol.receive_data(data)
        for event in self.protocol.events_received():
            if isinstance(event, Request):
                self.relay.on_handshake(self, event)
            elif isinstance(event, Frame) and event.opcode is Opcode.TEXT and not self.transport.is_closing():
                self._on_message(bytes(event.data).decode())
        self.flush()
        self.relay.noticed()

    def eof_received(self) -> None:
        self.protocol.receive_eof()

    def _on_message(self, message: str) -> None:
        relay = self.relay
        match json.loads(message):
            case ["EVENT", event]:
                relay.events.append(event)
                relay.raw.append(message.removeprefix('["EVENT",').removesuffix("]"))
                relay.on_event(self, event)
            case ["AUTH", event]:
                relay.auths.append(event)
                relay.on_auth(self, event)
            case ["REQ", subscription, *filters]:
                relay.reqs.append(filters)
                relay.on_req(self, subscription, filters)
            case ["CLOSE", _]:
                pass
            case other:
                raise AssertionError(f"no message of NIP-01: {other!r}")
