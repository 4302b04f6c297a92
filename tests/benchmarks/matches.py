"""200 matches at once on one process: p95 of a play against a constant answer, and how long the loop stalls.

`python -m tests.benchmarks.matches [--rounds 5] [--matches 200] [--master 20]`: interleaved rounds of whole
hands and of as many constant answers of a play's length, over as many connections. The server has one core,
the players and the relay the other. So many of the matches are against `master`, whose plays are reported
apart. The bounds are 20 and 50 ms.
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
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from app.main import open_service
from app.matches.commitment import Terms
from app.matches.opening import sign_statement
from app.nostr.keys import SecretKey
from app.web.server import Server, listen
from tests.benchmarks.posting import CLIENT_CORE, ROOT, SERVER_CORE, free_port, reachable, spawn
from tests.relays.real import rust_relay
from tests.service import make_key, settings

LEVELS = ("gentle", "normal", "sharp")
PLAYS = 20


async def serve(port: int, folder: Path, relay: str) -> None:
    """The service on asyncio's own loop; says in the end how long anything held it at most,
    by the clock and in CPU time of its own: other programs and threads may have had the core meanwhile."""
    longest, busiest, serving = 0.0, 0.0, False
    run = asyncio.Handle._run

    def timed(handle: asyncio.Handle) -> None:
        nonlocal longest, busiest
        counts = serving  # what comes before keeps nobody waiting, the step that ends it among it
        before, cpu = time.perf_counter(), time.thread_time()
        run(handle)
        if counts:
            longest = max(longest, time.perf_counter() - before)
            busiest = max(busiest, time.thread_time() - cpu)

    asyncio.Handle._run = timed  # type: ignore[method-assign]
    opened = settings(folder / "scores.db", [relay], RATE_LIMIT="off", RATE_LIMIT_PER_ADDRESS="off")
    async with open_service(opened) as service:
        url = f"http://127.0.0.1:{port}"

        def started() -> None:
            nonlocal serving
            serving = True

        server = Server(service.app(url), listen("127.0.0.1", port), started=started, stopping=lambda: None)
        await server.run_until_signal()
    print(f"{longest * 1e3:.1f} ms, {busiest * 1e3:.1f} ms of it its own", flush=True)


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
    seconds.extend([(await caller.call("GET", "/"))[0] for _ in range(PLAYS)])


async def measure(arguments: argparse.Namespace, folder: Path, relay: str) -> None:
    port, constant_port = free_port(), free_port()
    module = [sys.executable, "-m", "tests.benchmarks"]
    serving = spawn(
        [*module[:2], "tests.benchmarks.matches", "--serve", str(port), str(folder), relay],
        SERVER_CORE, cwd=ROOT, stdout=-1,
    )  # fmt: skip
    constant = spawn(
        [*module[:2], "tests.benchmarks.constant_app", str(constant_port), "2800"], SERVER_CORE, cwd=ROOT
    )
    try:
        await reachable(port)
        await reachable(constant_port)
        _, key = make_key(folder / "scores.db")
        rounds = []
        for number in range(arguments.rounds):
            done = Round()
            others = [await Caller.connect(constant_port) for _ in range(arguments.matches)]
            await asyncio.gather(*(constants(caller, done.constant) for caller in others))
            callers = [await Caller.connect(port) for _ in range(arguments.matches)]
            await asyncio.gather(
                *(
                    hand(
                        caller,
                        key,
                        f"r{number}-p{index}",
                        "master" if index < arguments.master else LEVELS[index % 3],
                        done.master if index < arguments.master else done.plays,
                    )
                    for index, caller in enumerate(callers)
                )
            )
            rounds.append(done)
    finally:
        constant.kill()
        serving.send_signal(signal.SIGTERM)
        stall = serving.communicate()[0].decode().strip()
    report(rounds, stall)


def report(rounds: list[Round], stall: str) -> None:
    def p95(seconds: list[float]) -> float:
        return statistics.quantiles(seconds, n=20)[-1] * 1e3

    print(f"{'p95 in ms':<24}{'a play':>10}{'constant':>10}{'ratio':>8}{'master':>10}")
    for number, done in enumerate(rounds, 1):
        mine, theirs = p95(done.plays), p95(done.constant)
        master = f"{p95(done.master):>10.0f}" if done.master else ""
        print(f"{f'round {number}':<24}{mine:>10.1f}{theirs:>10.1f}{mine / theirs:>8.1f}{master}")
    ratio = statistics.median(p95(done.plays) / p95(done.constant) for done in rounds)
    print(f"median ratio {ratio:.1f} (bound 20); longest stall of the loop {stall} (bound 50)")


async def main(arguments: argparse.Namespace) -> None:
    os.sched_setaffinity(0, CLIENT_CORE)  # before the relay starts its threads
    async with rust_relay() as relay:
        with tempfile.TemporaryDirectory() as folder:
            await measure(arguments, Path(folder), relay)


if __name__ == "__main__":
    if sys.argv[1:2] == ["--serve"]:
        asyncio.run(serve(int(sys.argv[2]), Path(sys.argv[3]), sys.argv[4]))
    else:
        parser = argparse.ArgumentParser(description=__doc__)
        parser.add_argument("--rounds", type=int, default=5)
        parser.add_argument("--matches", type=int, default=200)
        parser.add_argument("--master", type=int, default=20)
        asyncio.run(main(parser.parse_args()))
