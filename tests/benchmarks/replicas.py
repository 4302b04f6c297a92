"""Posting scores to one and to two replicas on PostgreSQL, and to one on SQLite, in interleaved rounds.

`python -m tests.benchmarks.replicas [--rounds 5] [--seconds 3]`. Nothing is pinned to a core: who takes how
much of them is printed, because that is what bounds the second replica on a small machine.
"""

import argparse
import asyncio
import contextlib
import json
import os
import statistics
import subprocess
import sys
import tempfile
import time
from dataclasses import dataclass, field
from pathlib import Path

from app.store.database import Database
from tests.benchmarks.load import Load, Posts, run_load
from tests.benchmarks.posting import CORES, ROOT, cpu_seconds, free_port, reachable, spawn
from tests.postgres import postgres_server
from tests.relays.bare import bare_relay
from tests.replicas import DURABLE

CONNECTIONS = 32


@dataclass
class Target:
    """Replicas that are posted to at the same time.

    Attributes:
        runs: posts per second of each round, over all replicas.
        shares: how many cores each kind of process took on average, of each round.
    """

    name: str
    ports: list[int]
    token: str
    processes: list[subprocess.Popen[bytes]]
    runs: list[float] = field(default_factory=list)
    shares: list[dict[str, float]] = field(default_factory=list)
    failures: int = 0


def start(name: str, url: str, relays: list[str], replicas: int) -> Target:
    """Run replicas on a database."""
    environment = {
        **os.environ,
        "BRISCOLA_SECRET_KEY": f"{2:064x}",
        "BRISCOLA_RELAYS": ",".join(relays),
        "BRISCOLA_DATABASE_URL": url,
    }
    run = [sys.executable, "-m", "app"]
    made = subprocess.check_output([*run, "key", "add", "bench", "--json"], env=environment, cwd=ROOT)
    ports = [free_port() for _ in range(replicas)]
    processes = [
        spawn(
            [*run, "serve", "--port", str(port)],
            set(CORES),
            env=environment,
            cwd=ROOT,
            stderr=subprocess.DEVNULL,
        )
        for port in ports
    ]
    return Target(name, ports, json.loads(made)["key"], processes)


def family(pid: int) -> list[int]:
    """A process and its children."""
    children = Path(f"/proc/{pid}/task/{pid}/children").read_text().split()
    return [pid, *map(int, children)]


def cpu(pids: list[int]) -> float:
    """Seconds of CPU that processes took; what has ended counts for nothing."""
    total = 0.0
    for pid in pids:
        with contextlib.suppress(OSError):
            total += cpu_seconds(pid)
    return total


async def post(target: Target, number: int, seconds: float) -> None:
    """One round: every replica gets its share of the connections."""
    loads: list[Load] = await asyncio.gather(
        *(
            run_load(
                port,
                Posts(f"r{number}-{index}-", target.token),
                seconds=seconds,
                connections=CONNECTIONS // len(target.ports),
            )
            for index, port in enumerate(target.ports)
        )
    )
    target.runs.append(sum(load.rate for load in loads))
    target.failures += sum(load.failures for load in loads)


async def measure(targets: list[Target], postmaster: int, rounds: int, seconds: float) -> None:
    """Measure in interleaved rounds, after one that warms up."""
    for target in targets:
        for port in target.ports:
            await reachable(port)
        await post(target, 0, 1)
        target.runs.clear()
    for number in range(1, rounds + 1):
        for target in targets:
            kinds = {
                "load generator": [os.getpid()],
                "replicas": [process.pid for process in target.processes],
                "PostgreSQL": family(postmaster),
            }
            before, began = {kind: cpu(pids) for kind, pids in kinds.items()}, time.perf_counter()
            await post(target, number, seconds)
            took = time.perf_counter() - began
            target.shares.append({kind: (cpu(pids) - before[kind]) / took for kind, pids in kinds.items()})


def report(targets: list[Target]) -> None:
    """Print rates, ratios and what took the cores."""
    kinds = list(targets[0].shares[0])
    print(
        f"\n{'':<24}{'posts/s':>9}{'failed':>8}"
        + "".join(f"{kind:>16}" for kind in kinds)
        + "   (cores of each)"
    )
    for target in targets:
        shares = [statistics.median(share[kind] for share in target.shares) for kind in kinds]
        rate = statistics.median(target.runs)
        print(
            f"{target.name:<24}{rate:>9.0f}{target.failures:>8}"
            + "".join(f"{share:>16.2f}" for share in shares)
        )
    sqlite, one, two = targets
    for label, upper, lower in (("two replicas over one", two, one), ("PostgreSQL over SQLite", one, sqlite)):
        ratio = statistics.median(a / b for a, b in zip(upper.runs, lower.runs, strict=True))
        print(f"{label}: {ratio:.2f}")
    print(f"the machine has {len(CORES)} cores")


def main() -> None:
    """Run and report."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3)
    options = parser.parse_args()
    targets: list[Target] = []
    with (
        tempfile.TemporaryDirectory() as folder,
        bare_relay() as first,
        bare_relay() as second,
        postgres_server(*DURABLE) as server,
        server.database() as alone,
        server.database() as shared,
    ):
        relays = [first, second]
        for url in (alone, shared):
            Database(url).close()
        try:
            targets.append(start("one on SQLite", f"sqlite:///{folder}/bench.db", relays, 1))
            targets.append(start("one on PostgreSQL", alone, relays, 1))
            targets.append(start("two on PostgreSQL", shared, relays, 2))
            asyncio.run(measure(targets, server.pid, options.rounds, options.seconds))
            report(targets)
        finally:
            for target in targets:
                for process in target.processes:
                    process.kill()
                    process.wait()


if __name__ == "__main__":
    main()
