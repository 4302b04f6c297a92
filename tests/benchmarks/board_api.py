"""GET /v1/leaderboard (top 50 of 1,000) against a Starlette constant of the same length.

`python -m tests.benchmarks.board_api [--rounds 7] [--seconds 2]`: interleaved rounds. The server has one
core, the load generator and the relay the other. The bound is 0.7.
"""

import argparse
import asyncio
import os
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import httpx
from nostr_sdk import Keys

from tests.benchmarks.load import Load, run_load
from tests.benchmarks.posting import CLIENT_CORE, ROOT, SERVER_CORE, cpu_seconds, free_port, reachable, spawn
from tests.process import environment
from tests.relays.events import publish, signed_event
from tests.relays.real import rust_relay
from tests.service import PUBKEY, SECRET

PLAYERS = 1000


@dataclass
class Target:
    name: str
    port: int
    pid: int
    request: bytes
    runs: list[Load] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)  # seconds per answer, kernel included

    def make_request(self) -> bytes:
        return self.request


def get(path: str, *fields: str) -> bytes:
    lines = "".join(f"{line}\r\n" for line in ("Host: localhost", *fields))
    return f"GET {path} HTTP/1.1\r\n{lines}\r\n".encode()


async def measure(targets: list[Target], rounds: int, seconds: float) -> None:
    for target in targets:
        await run_load(target.port, target.make_request, seconds=0.5)
    for _ in range(rounds):
        for target in targets:
            before = cpu_seconds(target.pid)
            target.runs.append(await run_load(target.port, target.make_request, seconds=seconds))
            target.cpu.append((cpu_seconds(target.pid) - before) / max(1, len(target.runs[-1].latencies)))


def report(targets: list[Target]) -> None:
    constant = targets[0]
    print(
        f"\n{'':<36}{'answers/s':>10}{'CPU us':>8}{'p50 ms':>9}{'p99 ms':>9}{'failed':>8}   over the constant"
    )
    for target in targets:
        rate = statistics.median(run.rate for run in target.runs)
        p50 = statistics.median(run.percentile(0.5) for run in target.runs) * 1e3
        p99 = statistics.median(run.percentile(0.99) for run in target.runs) * 1e3
        failed = sum(run.failures for run in target.runs)
        ratio = statistics.median(
            mine.rate / theirs.rate for mine, theirs in zip(target.runs, constant.runs, strict=True)
        )
        cpu = statistics.median(target.cpu) * 1e6
        print(f"{target.name:<36}{rate:>10.0f}{cpu:>8.0f}{p50:>9.2f}{p99:>9.2f}{failed:>8}   {ratio:.2f}")


async def run(rounds: int, seconds: float, start: Callable[..., subprocess.Popen[bytes]]) -> None:
    keys = Keys.parse(SECRET)
    async with rust_relay() as relay:
        await publish(relay, *(signed_event(keys, f"player{n}", n % 121) for n in range(PLAYERS)))
        with tempfile.TemporaryDirectory() as folder:
            env = environment(
                Path(folder), SECRET_KEY="", PUBLIC_KEYS=PUBKEY, RELAYS=relay, LOG_LEVEL="error"
            )
            # Counted, but never too many.
            env["BRISCOLA_RATE_LIMIT_PER_ADDRESS"] = "1000000000/minute"
            port = free_port()
            ours = start([sys.executable, "-m", "app", "serve", "--read-only", "--port", str(port)], env=env)
            await reachable(port)
            async with httpx.AsyncClient() as http:
                answer = await http.get(f"http://127.0.0.1:{port}/v1/leaderboard")
            assert len(answer.json()["entries"]) == 50
            other = free_port()
            length = str(len(answer.content))
            theirs = start([sys.executable, "-m", "tests.benchmarks.constant_app", str(other), length])
            await reachable(other)
            has = f"If-None-Match: {answer.headers['etag']}"
            targets = [
                Target(f"Starlette constant, {length} bytes", other, theirs.pid, get("/")),
                Target("GET /v1/leaderboard", port, ours.pid, get("/v1/leaderboard")),
                Target("the same, not modified", port, ours.pid, get("/v1/leaderboard", has)),
                Target("since=day", port, ours.pid, get("/v1/leaderboard?since=day")),
            ]
            await measure(targets, rounds, seconds)
            report(targets)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=7)
    parser.add_argument("--seconds", type=float, default=2)
    options = parser.parse_args()
    os.sched_setaffinity(0, CLIENT_CORE)
    processes: list[subprocess.Popen[bytes]] = []

    def start(command: list[str], **more: object) -> subprocess.Popen[bytes]:
        processes.append(spawn(command, SERVER_CORE, cwd=ROOT, stderr=subprocess.DEVNULL, **more))
        return processes[-1]

    try:
        asyncio.run(run(options.rounds, options.seconds, start))
    finally:
        for process in processes:
            process.terminate()
            process.wait()


if __name__ == "__main__":
    main()
