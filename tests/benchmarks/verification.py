"""Verification from JSON text to verdict, against the bare signature check, rust-nostr, and two processes.

Run with `python -m tests.benchmarks.verification`. Rounds are interleaved; each line is a median ratio.
"""

from __future__ import annotations

import gc
import statistics
import time
from typing import TYPE_CHECKING

from coincurve import PublicKeyXOnly

from app.nostr.keys import SecretKey
from app.scores.score_event import sign_score
from app.verifier import verify, verify_many

if TYPE_CHECKING:
    from collections.abc import Callable

SINGLE = 2000
MANY = 30_000
ROUNDS = 15
MANY_ROUNDS = 7


def seconds(action: Callable[[], object]) -> float:
    """How long one call takes, without the collector's pauses."""
    gc.collect()
    gc.disable()
    try:
        start = time.perf_counter()
        action()
        return time.perf_counter() - start
    finally:
        gc.enable()


def median_ratio(slower: Callable[[], object], faster: Callable[[], object], rounds: int) -> float:
    """Median over interleaved rounds of the time of `slower` divided by the time of `faster`."""
    return statistics.median(seconds(slower) / seconds(faster) for _ in range(rounds))


def main() -> None:
    """Measure and print."""
    secret = SecretKey.generate()
    events = [
        sign_score(secret, username=f"player{n % 500}", score=n % 121, created_at=1_750_000_000 + n)
        for n in range(SINGLE)
    ]
    texts = [event.to_json() for event in events]
    digests = [(bytes.fromhex(event.sig), bytes.fromhex(event.id)) for event in events]
    key = PublicKeyXOnly(bytes.fromhex(secret.pubkey))

    def bare() -> None:
        for signature, digest in digests:
            assert key.verify(signature, digest)

    def ours() -> None:
        for text in texts:
            assert verify(text, secret.pubkey).ok

    print(f"verify / bare signature check: {median_ratio(bare, ours, ROUNDS):.2f} of its rate (bound 0.85)")

    try:
        from nostr_sdk import Event
    except ImportError:
        print("verify / nostr-sdk: skipped, nostr-sdk is not installed")
    else:

        def rust() -> None:
            for text in texts:
                assert Event.from_json(text).verify()

        print(f"verify / nostr-sdk: {median_ratio(rust, ours, ROUNDS):.2f} times its rate (bound 3)")

    many = (texts * (MANY // SINGLE + 1))[:MANY]
    ratio = median_ratio(
        lambda: verify_many(many, secret.pubkey, workers=1),
        lambda: verify_many(many, secret.pubkey, workers=2),
        MANY_ROUNDS,
    )
    print(f"verify_many, {MANY} events, 2 workers / 1: {ratio:.2f} times its rate (bound 1.5)")


if __name__ == "__main__":
    main()
