"""200 matches at once on one process: p95 of a play against a constant answer, and how long the loop stalls.

`python -m tests.benchmarks.matches [--rounds 5] [--matches 200] [--master 20]`: interleaved rounds of whole
hands and of constant answers of a play's length, over as many connections, both on the loop that `serve`
runs on. The server has one core, with the process in which `master` thinks; the players and the relay have
the other. So many of the matches are against `master`, whose plays are reported apart. Then comes one more
round on asyncio's own loop, each of whose steps is timed: that costs too much while latencies are taken.
The bounds are 20 and 50 ms.
"""

import argparse
import asyncio
import json
import os
import signal
import statistics
import sys
import tempfile
import time
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.cli.common import run_loop
from app.main import open_service
from app.matches.commitment import Terms
from app.matches.opening import sign_statement
from app.nostr.keys import SecretKey
from app.web.server import Server, listen
from tests.benchmarks.posting import CLIENT_CORE, ROOT, SERVER_CORE, free_port, reachable, spawn
from tests.relays.real import rust_relay
from tests.service import make_key, settings

LEVELS = ("gentle", "normal", "sharp")
CONSTANTS = 100
"""Answers a connection: some seconds, so that the burst in which all begin counts for little."""


@dataclass
class Steps:
    """The longest step of an event loop, in seconds.

    Attributes:
        clock: by the clock.
        running: less what its thread waited for the core, which other programs may have had.
        own: in CPU time of its own.
    """

    clock: float = 0.0
    running: float = 0.0
    own: float = 0.0

    @classmethod
    def timed(cls) -> "Steps":
        """Time each step of asyncio's own loop from now on."""
        steps = cls()
        run = asyncio.Handle._run
        scheduling = os.open("/proc/thread-self/schedstat", os.O_RDONLY)

        def now() -> tuple[float, float, float]:
            waited = int(os.pread(scheduling, 100, 0).split()[1]) / 1e9
            clock = time.perf_counter()
            return clock, clock - waited, time.thread_time()

        def timed(handle: asyncio.Handle) -> None:
            before = now()
            run(handle)
            clock, running, own = (after - then for after, then in zip(now(), before, strict=True))
            steps.clock = max(steps.clock, clock)
            steps.running = max(steps.running, running)
            steps.own = max(steps.own, own)

        asyncio.Handle._run = timed  # type: ignore[method-assign]
        return steps

    def __str__(self) -> str:
        return (
            f"{self.clock * 1e3:.1f} ms by the clock, {self.running * 1e3:.1f} ms less waiting for the core, "
            f"{self.own * 1e3:.1f} ms of CPU"
        )


async def serve(port: int, folder: Path, relay: str, *, timed: bool) -> None:
    """The service; says in the end how long a step of its loop took at most, if they are timed."""
    steps: Steps | None = None

    def started() -> None:  # what comes before keeps nobody waiting
        nonlocal steps
        steps = Steps.timed() if timed else None

    opened = settings(folder / "scores.db", [relay], RATE_LIMIT="off", RATE_LIMIT_PER_ADDRESS="off")
    async with open_service(opened) as service:
        app = service.app(f"http://127.0.0.1:{port}")
        server = Server(app, listen("127.0.0.1", port), started=started, stopping=lambda: None)
        await server.run_until_signal()
    print(steps, flush=True)


@dataclass
class Caller:
    """One connection, one call at a time."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter

    @classmethod
    async def connect(cls, port: int) -> "Caller":
        return cls(*await asyncio.open_connection("127.0.0.1", port))

    async def call(self, method: str, path: str, token: str = "", body: object = None) -> tuple[float, bytes]:
        """Seconds until the whole answer was there, and its body."""
        raw = b"" if body is None else json.dumps(body).encode()
        head = (
            f"{method} {path} HTTP/1.1\r\nHost: localhost\r\nAuthorization: Bearer {token}\r\n"
            f"Content-Type: application/json\r\nContent-Length: {len(raw)}\r\n\r\n"
        )
        started = time.perf_counter()
        self.writer.write(head.encode() + raw)
        answer = (await self.reader.readuntil(b"\r\n\r\n")).lower()
        length = int(answer.partition(b"content-length:")[2].partition(b"\r\n")[0])
        content = await self.reader.readexactly(length)
        seconds = time.perf_counter() - started
        if answer[9:12] not in {b"200", b"201"}:
            raise SystemExit(f"{method} {path}: {content.decode()}")
        return seconds, content


@dataclass
class Round:
    plays: list[float] = field(default_factory=list)
    master: list[float] = field(default_factory=list)
    constant: list[float] = field(default_factory=list)


async def hand(caller: Caller, key: str, name: str, level: str, seconds: list[float]) -> int:
    """Play a whole hand; gives the length of an answer to a play."""
    player = SecretKey.generate()
    body: dict[str, Any] = {"username": name, "level": level, "player": player.pubkey}
    match = json.loads((await caller.call("POST", "/v1/matches", key, body))[1])
    path, token, seed = f"/v1/matches/{match['id']}", match["token"], os.urandom(32)
    statement = sign_statement(
        player,
        terms=Terms(match["id"], player.pubkey, name, level),
        commitment_event=match["commitment_event"]["id"],
        commitment=match["commitment"],
        client_seed=seed,
        created_at=int(time.time()),
    )
    body = {"client_seed": seed.hex(), "statement": statement.to_dict()}
    content = (await caller.call("POST", f"{path}/deal", token, body))[1]
    while (match := json.loads(content))["next_ply"] is not None:
        body = {"card": match["observation"]["hand"][0], "ply": match["next_ply"]}
        took, content = await caller.call("POST", f"{path}/plays", token, body)
        seconds.append(took)
    return len(content)


async def constants(caller: Caller, seconds: list[float]) -> None:
    seconds.extend([(await caller.call("GET", "/"))[0] for _ in range(CONSTANTS)])


@asynccontextmanager
async def serving(folder: Path, relay: str, *timed: str) -> AsyncIterator[tuple[int, list[str]]]:
    """The service on a port, and the list into which it says its last word."""
    port, words = free_port(), []
    command = [
        sys.executable,
        "-m",
        "tests.benchmarks.matches",
        "--serve",
        str(port),
        str(folder),
        relay,
        *timed,
    ]
    process = spawn(command, SERVER_CORE, cwd=ROOT, stdout=-1)
    try:
        await reachable(port)
        yield port, words
    finally:
        process.send_signal(signal.SIGTERM)
        words.append(process.communicate()[0].decode().strip())


async def hands(port: int, key: str, name: str, arguments: argparse.Namespace, done: Round) -> None:
    """Play the matches, all at once."""
    callers = [await Caller.connect(port) for _ in range(arguments.matches)]
    await asyncio.gather(
        *(
            hand(
                caller,
                key,
                f"{name}-p{index}",
                "master" if index < arguments.master else LEVELS[index % 3],
                done.master if index < arguments.master else done.plays,
            )
            for index, caller in enumerate(callers)
        )
    )


async def measure(arguments: argparse.Namespace, folder: Path, relay: str) -> None:
    _, key = make_key(folder / "scores.db")
    constant_port = free_port()
    constant = spawn(
        [sys.executable, "-m", "tests.benchmarks.constant_app", str(constant_port), "2800"],
        SERVER_CORE,
        cwd=ROOT,
    )
    try:
        await reachable(constant_port)
        rounds = []
        async with serving(folder, relay) as (port, _):
            for number in range(arguments.rounds):
                done = Round()
                others = [await Caller.connect(constant_port) for _ in range(arguments.matches)]
                await asyncio.gather(*(constants(caller, done.constant) for caller in others))
                await hands(port, key, f"r{number}", arguments, done)
                rounds.append(done)
    finally:
        constant.kill()
    async with serving(folder, relay, "--timed") as (port, words):
        await hands(port, key, "timed", arguments, Round())
    report(rounds, *words)


def report(rounds: list[Round], stall: str) -> None:
    def p95(seconds: list[float]) -> float:
        return statistics.quantiles(seconds, n=20)[-1] * 1e3

    print(f"{'p95 in ms':<24}{'a play':>10}{'constant':>10}{'ratio':>8}{'master':>10}")
    for number, done in enumerate(rounds, 1):
        mine, theirs = p95(done.plays), p95(done.constant)
        master = f"{p95(done.master):>10.0f}" if done.master else ""
        print(f"{f'round {number}':<24}{mine:>10.1f}{theirs:>10.1f}{mine / theirs:>8.1f}{master}")
    ratio = statistics.median(p95(done.plays) / p95(done.constant) for done in rounds)
    print(f"median ratio {ratio:.1f} (bound 20); longest step of the loop {stall} (bound 50)")


async def main(arguments: argparse.Namespace) -> None:
    os.sched_setaffinity(0, CLIENT_CORE)  # before the relay starts its threads
    async with rust_relay() as relay:
        with tempfile.TemporaryDirectory() as folder:
            await measure(arguments, Path(folder), relay)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        timed = sys.argv[5:] == ["--timed"]
        service = serve(int(sys.argv[2]), Path(sys.argv[3]), sys.argv[4], timed=timed)
        asyncio.run(service) if timed else run_loop(service)
    else:
        parser = argparse.ArgumentParser(description=__doc__)
        parser.add_argument("--rounds", type=int, default=5)
        parser.add_argument("--matches", type=int, default=200)
        parser.add_argument("--master", type=int, default=20)
        asyncio.run(main(parser.parse_args()))
