"""From a relay's stored events to a ranked board, and what one new event costs a board.

Run with `python -m tests.benchmarks.board [--events 20000] [--rounds 3]`. The first is a median ratio over
interleaved rounds to the bare verification of as many signatures on the same cores, which the relay shares;
each round reads in a process of its own, as a service or a command does.
"""

from __future__ import annotations

import argparse
import os
import random
import statistics
import tempfile
import time
from concurrent.futures import ProcessPoolExecutor
from multiprocessing import get_context
from pathlib import Path
from typing import TYPE_CHECKING

import uvloop
from coincurve import PublicKeyXOnly

from app.delivery.reader import Reader
from app.nostr.keys import SecretKey
from app.scores.leaderboard import Leaderboard
from app.scores.score_event import sign_score
from app.scores.signed_score import SignedScore
from tests.relays.archive import archive_relay

if TYPE_CHECKING:
    from app.nostr.event import Event

CORES = len(os.sched_getaffinity(0))
SIZES = (1_000, 10_000, 100_000)
UPDATES = 5_000
START = 1_750_000_000


def signed(secret: SecretKey, count: int) -> list[Event]:
    """Scores of as many players, newest first, three a second."""
    return [
        sign_score(secret, username=f"player{n}", score=n * 7919 % 121, created_at=START + (count - n) // 3)
        for n in range(count)
    ]


def check_all(pubkey: str, pairs: list[tuple[bytes, bytes]]) -> bool:
    key = PublicKeyXOnly(bytes.fromhex(pubkey))
    return all(key.verify(signature, digest) for signature, digest in pairs)


def bare_seconds(pubkey: str, pairs: list[tuple[bytes, bytes]]) -> float:
    """Wall seconds to check the signatures alone, one process a core, which are there already."""
    with ProcessPoolExecutor(CORES, mp_context=get_context("fork")) as pool:
        list(pool.map(os.getpid, ()))
        pool.submit(check_all, pubkey, pairs[:1]).result()
        started = time.perf_counter()
        parts = [pool.submit(check_all, pubkey, pairs[core::CORES]) for core in range(CORES)]
        assert all(part.result() for part in parts)
        return time.perf_counter() - started


def board_seconds(pubkey: str, relay: str, count: int) -> float:
    """Wall seconds until the board is whole and its first page read."""

    async def read() -> float:
        started = time.perf_counter()
        async with Reader([relay], pubkey) as reader:
            assert await reader.ready(600), reader.relays
            assert len(reader.board) == count
            assert reader.board.ranking.page(50)[0].row.score == 120
            return time.perf_counter() - started

    return uvloop.run(read())


def whole_board(count: int, rounds: int) -> None:
    secret = SecretKey.generate()
    events = signed(secret, count)
    with tempfile.TemporaryDirectory() as folder:
        file = Path(folder) / "events.jsonl"
        file.write_text("".join(event.to_json() + "\n" for event in events))
        pairs = [(bytes.fromhex(event.sig), bytes.fromhex(event.id)) for event in events]
        with archive_relay(file) as relay:
            ratios = []
            for _ in range(rounds):
                bare = bare_seconds(secret.pubkey, pairs)
                with ProcessPoolExecutor(1, mp_context=get_context("spawn")) as fresh:
                    ours = fresh.submit(board_seconds, secret.pubkey, relay, count).result()
                ratios.append(ours / bare)
                print(f"  board after {ours:.2f} s, bare check {bare:.2f} s")
    print(
        f"{count} stored events to a ranked board / bare check of their signatures on {CORES} cores:"
        f" {statistics.median(ratios):.2f} times its time (bound 1.6)"
    )


def update_seconds(size: int, generator: random.Random) -> float:
    """Median seconds for a new event to be on a board of this size and its place known."""
    now = START + 10**8

    def score(created_at: int) -> SignedScore:
        name, event_id = f"player{generator.randrange(size)}", f"{generator.getrandbits(256):064x}"
        return SignedScore(name, generator.randrange(121), created_at, event_id, "")

    board = Leaderboard()
    for n in range(size):
        board.add(score(START)._replace(username=f"player{n}"), now)
    times = []
    for update in range(UPDATES):
        new = score(START + 1 + update)
        started = time.perf_counter()
        board.add(new, now)
        board.entry(new.d)
        board.ranking.around(new, 2, 2)
        times.append(time.perf_counter() - started)
    return statistics.median(times)


def one_update() -> None:
    costs = {size: update_seconds(size, random.Random(1)) for size in SIZES}
    small = costs[SIZES[0]]
    for size, cost in costs.items():
        print(f"one new event on a board of {size}: {cost / small:.2f} times that of {SIZES[0]}")
    print("(logarithmic growth: 1, 1.33, 1.67; a rebuild: 1, 10, 100)")


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--events", type=int, default=20_000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    one_update()
    whole_board(options.events, options.rounds)


if __name__ == "__main__":
    main()
