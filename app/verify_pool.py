"""Verification of many events on several cores: workers around the pure verifier."""

from __future__ import annotations

import multiprocessing
import os
import signal
import sys
import threading
from collections import deque
from collections.abc import Sized
from concurrent.futures import Executor, Future, ProcessPoolExecutor, ThreadPoolExecutor
from typing import TYPE_CHECKING

from app.nostr.event import read_fields, shape
from app.verifier import AppKeys, Source, Verdict, app_keys, verify_with

if TYPE_CHECKING:
    from collections.abc import Generator, Iterable, Iterator

INLINE_BELOW = 5000  # fewer events are done before workers have started
_CHUNK_EVENTS = 500
_CHUNK_LENGTH = 4 * 1024 * 1024  # text in a chunk; only a single longer event makes it more
_CHUNKS_IN_FLIGHT = 4  # for each worker: enough to keep it busy, few enough to bound memory


def verify_all(
    events: Iterable[Source], app_pubkey: AppKeys, workers: int | None = None
) -> Generator[Verdict, None, None]:
    """One verdict per event, in order, reading no further ahead than the workers need; to be closed if left.

    Args:
        events: each as `verify` takes it; a list of fewer than `INLINE_BELOW` is judged in this process.
        app_pubkey: as `verify` takes it.
        workers: processes or threads to use; by default one a core. With 1, verdicts come event by event.

    Raises:
        ValueError: `app_pubkey` is no key, or `workers` is not positive.
    """
    keys = app_keys(app_pubkey)
    if workers is None:
        workers = _cores()
    elif workers < 1:
        raise ValueError(f"workers is {workers}; at least one is needed")
    if workers == 1 or (isinstance(events, Sized) and len(events) < INLINE_BELOW):
        return (verify_with(event, keys) for event in events)
    return _in_chunks(iter(events), keys, workers)


def _chunks(events: Iterator[Source]) -> Iterator[list[Source]]:
    """The events in lists that are short in number and in text."""
    chunk: list[Source] = []
    length = 0
    for event in events:
        chunk.append(event)
        length += len(event) if isinstance(event, str | bytes) else 0
        if len(chunk) >= _CHUNK_EVENTS or length >= _CHUNK_LENGTH:
            yield chunk
            chunk, length = [], 0
    if chunk:
        yield chunk


def _in_chunks(
    events: Iterator[Source], keys: frozenset[str], workers: int
) -> Generator[Verdict, None, None]:
    with _executor(workers) as pool:
        running: deque[tuple[list[Source], Future[list[Verdict | None]]]] = deque()
        for chunk in _chunks(events):
            texts = [_portable(event) for event in chunk]
            running.append((chunk, pool.submit(_verify_chunk, texts, keys)))
            if len(running) >= workers * _CHUNKS_IN_FLIGHT:
                yield from _completed(*running.popleft(), keys)
        while running:
            yield from _completed(*running.popleft(), keys)


def _completed(
    chunk: list[Source], verdicts: Future[list[Verdict | None]], keys: frozenset[str]
) -> Iterator[Verdict]:
    """A chunk's verdicts, with those that no worker gave."""
    for event, verdict in zip(chunk, verdicts.result(), strict=True):
        yield verify_with(event, keys) if verdict is None else verdict


def _portable(event: Source) -> str | bytes | None:
    """The event as text, which travels safely; None for a malformed mapping, which is quickly judged here."""
    if type(event) is str or type(event) is bytes:
        return event
    try:
        return shape(read_fields(event)[0]).to_json()
    except Exception:  # noqa: BLE001 - a mapping runs code of its own, which may raise anything
        return None


def _verify_chunk(texts: list[str | bytes | None], keys: frozenset[str]) -> list[Verdict | None]:
    return [None if text is None else verify_with(text, keys) for text in texts]


def _executor(workers: int) -> Executor:
    """Forked processes where that is safe, else threads, which gain less but run beside anything.

    Spawned processes would run the caller's main module once more.
    """
    if sys.platform == "linux" and threading.active_count() == 1:
        context = multiprocessing.get_context("fork")
        return ProcessPoolExecutor(workers, mp_context=context, initializer=_ignore_interrupts)
    return ThreadPoolExecutor(workers)


def _ignore_interrupts() -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)  # Ctrl-C is for the parent, which then ends its workers


def _cores() -> int:
    if hasattr(os, "sched_getaffinity"):
        return len(os.sched_getaffinity(0))
    return os.cpu_count() or 1
