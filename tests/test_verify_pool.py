from __future__ import annotations

import multiprocessing
import sys
import threading
from concurrent.futures import ProcessPoolExecutor, ThreadPoolExecutor
from typing import TYPE_CHECKING, Any

import pytest

from app import verify_pool
from app.nostr.keys import SecretKey
from app.scores.score_event import sign_score
from app.verifier import verify, verify_many
from app.verify_pool import verify_all

if TYPE_CHECKING:
    from collections.abc import Iterator

SECRET = SecretKey.parse("0" * 62 + "2a")
EVENTS = [
    sign_score(SECRET, username=f"player{n}", score=n % 121, created_at=1_700_000_000 + n) for n in range(40)
]


class Hostile:
    def __reduce__(self) -> Any:
        raise RuntimeError("no")


def mixed(count: int) -> list[Any]:
    """Good and bad events in every form, each at its own place."""
    events: list[Any] = []
    for n in range(count):
        event = EVENTS[n % len(EVENTS)]
        forms = (
            event.to_json(),
            event.to_json().encode(),
            event.to_dict(),
            {**event.to_dict(), "created_at": n},
            {**event.to_dict(), "sig": Hostile()},
            event.to_json().replace("player", "other"),
            "\ud83d",
            None,
            b"\xff",
            "",
        )
        events.append(forms[n // len(EVENTS) % len(forms)])
    return events


def test_workers_give_the_same_verdicts_in_the_same_order() -> None:
    events = mixed(1300)
    alone = [verify(event, SECRET.pubkey) for event in events]
    assert {verdict.failed for verdict in alone} >= {None, "signature", "unparsable"}
    assert list(verify_all(iter(events), SECRET.pubkey, workers=2)) == alone
    assert verify_many(events, SECRET.pubkey) == alone


def test_beside_other_threads_the_workers_are_threads() -> None:
    release = threading.Event()
    thread = threading.Thread(target=release.wait)
    thread.start()
    try:
        with verify_pool._executor(2) as executor:
            assert isinstance(executor, ThreadPoolExecutor)
        verdicts = list(verify_all(iter(mixed(800)), SECRET.pubkey, workers=2))
    finally:
        release.set()
        thread.join()
    assert verdicts == verify_many(mixed(800), SECRET.pubkey)


@pytest.mark.skipif(sys.platform != "linux", reason="only Linux forks")
def test_without_other_threads_the_workers_are_processes() -> None:
    assert threading.active_count() == 1
    with verify_pool._executor(2) as executor:
        assert isinstance(executor, ProcessPoolExecutor)


def test_a_stream_is_read_no_further_than_needed(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify_pool, "_CHUNK_EVENTS", 3)
    read = 0

    def stream() -> Iterator[str]:
        nonlocal read
        while True:
            read += 1
            yield EVENTS[0].to_json()

    verdicts = verify_all(stream(), SECRET.pubkey, workers=2)
    assert next(verdicts).ok
    assert read == 3 * 2 * 4  # events in a chunk, workers, chunks in flight for each
    verdicts.close()
    assert multiprocessing.active_children() == []

    one_by_one = verify_all(stream(), SECRET.pubkey, workers=1)
    read = 0
    assert next(one_by_one).ok
    assert read == 1


def test_chunks_are_short_in_text_too(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(verify_pool, "_CHUNK_LENGTH", 10)
    chunks = list(verify_pool._chunks(iter(["x" * 4, "x" * 4, "x" * 4, b"x" * 40, {}, {}])))
    assert chunks == [["x" * 4] * 3, [b"x" * 40], [{}, {}]]


def test_no_events_no_verdicts() -> None:
    assert verify_many([], SECRET.pubkey) == []
    assert list(verify_all(iter([]), SECRET.pubkey, workers=2)) == []


@pytest.mark.parametrize(("key", "workers"), [("ab", None), ([], 1), (SECRET.pubkey, 0), (SECRET.pubkey, -1)])
def test_what_is_the_callers_fault(key: Any, workers: int | None) -> None:
    with pytest.raises(ValueError, match=r"key|workers"):
        verify_many([], key, workers)
