"""A load generator for HTTP: many connections, one request at a time on each, as cheap as asyncio allows."""

import asyncio
import json
import time
from collections.abc import Callable
from dataclasses import dataclass


@dataclass
class Load:
    """What one run saw; latencies in seconds, ascending."""

    seconds: float
    latencies: list[float]
    failures: int

    @property
    def rate(self) -> float:
        """Good answers per second."""
        return len(self.latencies) / self.seconds

    def percentile(self, share: float) -> float:
        return self.latencies[min(len(self.latencies) - 1, int(share * len(self.latencies)))]


class _Client(asyncio.Protocol):
    def __init__(self, make_request: Callable[[], bytes], until: float, done: asyncio.Future[None]) -> None:
        self.make_request, self.until, self.done = make_request, until, done
        self.latencies: list[float] = []
        self.failures = 0
        self.buffer = b""

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self.transport = transport
        self.send()

    def send(self) -> None:
        self.sent = time.perf_counter()
        if self.sent >= self.until:
            self.transport.close()
            if not self.done.done():
                self.done.set_result(None)
            return
        self.transport.write(self.make_request())  # type: ignore[attr-defined]

    def data_received(self, data: bytes) -> None:
        self.buffer += data
        head, separator, body = self.buffer.partition(b"\r\n\r\n")
        if not separator:
            return
        lower = head.lower()
        start = lower.find(b"content-length:") + 15
        end = lower.find(b"\r\n", start)
        if start > 15 and len(body) < int(lower[start : end if end > 0 else None]):
            return
        self.buffer = b""
        if head[9:12] in {b"200", b"201", b"304"}:
            self.latencies.append(time.perf_counter() - self.sent)
        else:
            self.failures += 1
        self.send()

    def connection_lost(self, exc: Exception | None) -> None:
        if not self.done.done():
            self.failures += 1
            self.done.set_result(None)


async def run_load(
    port: int, make_request: Callable[[], bytes], *, seconds: float, connections: int = 32
) -> Load:
    loop = asyncio.get_running_loop()
    until = time.perf_counter() + seconds
    clients = []
    started = time.perf_counter()
    for _ in range(connections):
        client = _Client(make_request, until, loop.create_future())
        await loop.create_connection(lambda client=client: client, "127.0.0.1", port)
        clients.append(client)
    await asyncio.gather(*(client.done for client in clients))
    latencies = sorted(latency for client in clients for latency in client.latencies)
    return Load(time.perf_counter() - started, latencies, sum(client.failures for client in clients))


class Posts:
    """Requests that post a score, each for a name of its own."""

    def __init__(self, prefix: str, token: str = "none") -> None:
        self.prefix, self.token, self.count = prefix, token, 0

    def __call__(self) -> bytes:
        self.count += 1
        body = json.dumps({"username": f"{self.prefix}{self.count}", "score": self.count % 121}).encode()
        return (
            b"POST /v1/scores HTTP/1.1\r\nHost: localhost\r\nContent-Type: application/json\r\n"
            b"Authorization: Bearer %b\r\nContent-Length: %d\r\n\r\n%b"
            % (self.token.encode(), len(body), body)
        )
