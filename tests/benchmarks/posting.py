"""Posting scores: requests per second against a bare signing app and Node peers, in interleaved rounds.

`python -m tests.benchmarks.posting [--rounds 5] [--seconds 3]`. The server has one core, the load generator
and the relays the other. The service also runs a second time with three dead relays beside its two good ones;
the bound is 0.9 of its rate without them.
"""

import argparse
import asyncio
import contextlib
import json
import os
import shutil
import socket
import sqlite3
import statistics
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path

from tests.benchmarks.load import Load, Posts, run_load
from tests.relays.bare import bare_relay
from tests.relays.silent import silent_relay

HERE = Path(__file__).parent
ROOT = HERE.parent.parent
CORES = sorted(os.sched_getaffinity(0))
SERVER_CORE, CLIENT_CORE = {CORES[0]}, {CORES[-1]}
OURS, BESIDE_DEAD = "briscola-scores", "beside dead relays"
NODE_PACKAGES = ["nostr-tools@2.25.2", "nostr-wasm@0.1.0"]


@dataclass
class Target:
    name: str
    port: int
    posts: Posts
    process: subprocess.Popen[bytes]
    runs: list[Load] = field(default_factory=list)
    cpu: list[float] = field(default_factory=list)  # seconds per post, kernel included


def cpu_seconds(pid: int) -> float:
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def free_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return int(listening.getsockname()[1])


def spawn(command: list[str], cores: set[int], **options: object) -> subprocess.Popen[bytes]:
    return subprocess.Popen(command, preexec_fn=lambda: os.sched_setaffinity(0, cores), **options)  # type: ignore[call-overload]


async def reachable(port: int) -> None:
    for _ in range(200):
        with contextlib.suppress(OSError):
            _, writer = await asyncio.open_connection("127.0.0.1", port)
            writer.close()
            return
        await asyncio.sleep(0.05)
    raise SystemExit(f"nothing listens on port {port}")


@contextlib.contextmanager
def dead_relays() -> Iterator[list[str]]:
    """One refuses connections, one never answers the handshake, one never answers an event."""
    with contextlib.ExitStack() as stack:
        refusing = f"ws://127.0.0.1:{free_port()}"
        silent = stack.enter_context(silent_relay("handshake"))
        mute = stack.enter_context(silent_relay("event"))
        yield [refusing, silent, mute]


def service(name: str, folder: Path, relays: list[str]) -> Target:
    environment = {
        **os.environ,
        "BRISCOLA_SECRET_KEY": f"{2:064x}",
        "BRISCOLA_RELAYS": ",".join(relays),
        "BRISCOLA_DATABASE_URL": f"sqlite:///{folder / f'{name}.db'}",
    }
    run = [sys.executable, "-m", "app"]
    key = json.loads(
        subprocess.check_output([*run, "key", "add", "bench", "--json"], env=environment, cwd=ROOT)
    )
    port = free_port()
    process = spawn(
        [*run, "serve", "--port", str(port)],
        SERVER_CORE,
        env=environment,
        cwd=ROOT,
        stderr=subprocess.DEVNULL,
    )
    return Target(name, port, Posts("player", key["key"]), process)


def reference() -> Target:
    port = free_port()
    process = spawn(
        [sys.executable, "-m", "tests.benchmarks.reference_app", str(port)], SERVER_CORE, cwd=ROOT
    )
    return Target("reference app", port, Posts("player"), process)


def node_peers(folder: Path) -> Iterator[Target]:
    if not shutil.which("npm"):
        print("skipped: the Node peers, because npm is not installed")
        return
    installed = subprocess.run(
        ["npm", "install", "--silent", *NODE_PACKAGES], cwd=folder, check=False, capture_output=True
    )
    if installed.returncode:
        print("skipped: the Node peers, because npm could not install them")
        return
    script = shutil.copy(HERE / "node_server.mjs", folder)
    for library in ("nostr-tools", "nostr-wasm"):
        port = free_port()
        process = spawn(
            ["node", script, str(port), library], SERVER_CORE, cwd=folder, stdout=subprocess.DEVNULL
        )
        yield Target(library, port, Posts("player"), process)


async def measure(targets: list[Target], rounds: int, seconds: float) -> None:
    for target in targets:
        await reachable(target.port)
        await run_load(target.port, target.posts, seconds=1)
    for _ in range(rounds):
        for target in targets:
            before = cpu_seconds(target.process.pid)
            run = await run_load(target.port, target.posts, seconds=seconds)
            target.runs.append(run)
            target.cpu.append((cpu_seconds(target.process.pid) - before) / max(1, len(run.latencies)))


def report(targets: list[Target]) -> None:
    ours = targets[0]
    print(f"\n{'':<24}{'posts/s':>9}{'p50 ms':>9}{'p99 ms':>9}{'CPU us':>9}{'failed':>8}   ours over it")
    for target in targets:
        rate = statistics.median(run.rate for run in target.runs)
        p50 = statistics.median(run.percentile(0.5) for run in target.runs) * 1e3
        p99 = statistics.median(run.percentile(0.99) for run in target.runs) * 1e3
        cpu = statistics.median(target.cpu) * 1e6
        failed = sum(run.failures for run in target.runs)
        ratio = statistics.median(
            mine.rate / theirs.rate for mine, theirs in zip(ours.runs, target.runs, strict=True)
        )
        print(f"{target.name:<24}{rate:>9.0f}{p50:>9.2f}{p99:>9.2f}{cpu:>9.0f}{failed:>8}   {ratio:.2f}")
    tails = [run.percentile(0.99) / run.percentile(0.5) for run in ours.runs]
    print(f"p99 over p50 of {ours.name}: {statistics.median(tails):.1f}")
    beside = next(target for target in targets if target.name == BESIDE_DEAD)
    both = list(zip(beside.runs, ours.runs, strict=True))
    rate = statistics.median(dead.rate / alone.rate for dead, alone in both)
    cpu = statistics.median(dead / alone for dead, alone in zip(beside.cpu, ours.cpu, strict=True))
    print(
        f"beside three dead relays: {rate:.2f} of its rate without them (bound 0.9), {cpu:.2f} times the CPU"
    )


def report_deliveries(folder: Path, name: str) -> None:
    with contextlib.closing(sqlite3.connect(folder / f"{name}.db")) as database:
        counts = database.execute(
            "SELECT url, state, count(*) FROM delivery JOIN relay ON relay.id = relay_id GROUP BY url, state"
        ).fetchall()
    print(f"deliveries of {name} at the end:")
    for url, state, count in counts:
        print(f"  {url} {state}: {count}")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--rounds", type=int, default=5)
    parser.add_argument("--seconds", type=float, default=3)
    options = parser.parse_args()
    os.sched_setaffinity(0, CLIENT_CORE)
    targets: list[Target] = []
    with (
        tempfile.TemporaryDirectory() as name,
        bare_relay() as one,
        bare_relay() as other,
        dead_relays() as dead,
    ):
        folder = Path(name)
        try:
            targets += [
                service(OURS, folder, [one, other]),
                service(BESIDE_DEAD, folder, [one, other, *dead]),
                reference(),
            ]
            targets += node_peers(folder)
            asyncio.run(measure(targets, options.rounds, options.seconds))
            report(targets)
            for name in (OURS, BESIDE_DEAD):
                report_deliveries(folder, name)
        finally:
            for target in targets:
                target.process.terminate()
            for target in targets:
                target.process.wait()


if __name__ == "__main__":
    main()
