from __future__ import annotations

from collections.abc import Callable, Iterator
from typing import Any

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from app.delivery.backfill import LEAST_CAP, PAGE_EVENTS, Backfill

Stored = list[tuple[str, int]]
Answer = Callable[[Stored, dict[str, Any]], Stored]
MANY_PAGES = 500


def relay(cap: int) -> Answer:
    """An honest relay: newest first, then lowest id."""

    def answer(stored: Stored, wanted: dict[str, Any]) -> Stored:
        found = [
            one for one in stored if wanted.get("since", 0) <= one[1] <= wanted.get("until", 2**53)
            if one[0] in wanted.get("ids", [one[0]])
        ]  # fmt: skip
        return sorted(found, key=lambda one: (-one[1], one[0]))[: min(cap, wanted["limit"])]

    return answer


def read(
    stored: Stored, answer: Answer, *, wanted: dict[str, Any] | None = None, limit: int = 10**6
) -> tuple[Stored, Backfill, list[dict[str, Any]]]:
    backfill = Backfill(wanted or {"kinds": [31250]}, limit=limit)
    got: Stored = []
    requests: list[dict[str, Any]] = []
    while (request := backfill.request) is not None:
        requests.append(request)
        assert len(requests) < MANY_PAGES
        for event_id, created_at in answer(stored, request):
            if backfill.request is None:
                break
            if backfill.take(event_id, created_at):
                got.append((event_id, created_at))
        backfill.end_page()
    return got, backfill, requests


def numbered(times: Iterator[int] | list[int] | range) -> Stored:
    return [(f"{number:064x}", at) for number, at in enumerate(times)]


@given(st.lists(st.integers(0, 8), max_size=40), st.integers(1, 50))
@example([0, 0, 0, 1], 2)
def test_from_an_honest_relay_comes_everything_or_it_is_said_that_not(times: list[int], cap: int) -> None:
    stored = numbered(times)
    got, backfill, _ = read(stored, relay(cap))
    assert len(got) == len(set(got))
    assert set(got) <= set(stored)
    crowded_alone = len(set(times)) == 1 and cap < LEAST_CAP  # a cap so low is not thought of
    if set(got) != set(stored) and not crowded_alone:
        assert "of one second" in backfill.reason
    if all(times.count(at) < cap for at in times):
        assert set(got) == set(stored)
        assert backfill.reason == ""


def test_700_in_one_second_over_a_cap_of_500_is_said() -> None:
    stored = numbered([5000] * 700 + list(range(503)))
    got, backfill, requests = read(stored, relay(500))
    assert len(got) == 500 + 503
    assert backfill.reason == "more events than the relay sends at once are, or may be, of one second"
    assert len(requests) == 5
    got, backfill, _ = read(numbered([5000] * 700), relay(500))
    assert (len(got), bool(backfill.reason)) == (500, True)
    got, backfill, requests = read(stored, relay(1000))
    assert (len(got), backfill.reason) == (1203, "")
    assert requests[:2] == [
        {"kinds": [31250], "limit": PAGE_EVENTS},
        {"kinds": [31250], "limit": PAGE_EVENTS, "until": 203},
    ]


def test_since_and_until_of_the_filter_hold() -> None:
    got, backfill, requests = read(numbered(range(100)), relay(10), wanted={"since": 20, "until": 59})
    assert [at for _, at in got] == list(range(59, 19, -1))
    assert backfill.reason == ""
    assert all(request["since"] == 20 for request in requests)


def test_ids_are_done_when_they_have_come() -> None:
    stored = numbered([5, 5, 9])
    got, backfill, requests = read(stored, relay(500), wanted={"ids": [stored[0][0], stored[2][0]]})
    assert (len(got), backfill.reason, len(requests)) == (2, "", 1)
    got, backfill, _ = read(stored, relay(500), wanted={"ids": [stored[0][0], "missing"]})
    assert (len(got), backfill.reason) == (1, "")


def test_no_more_than_the_limit() -> None:
    got, backfill, _ = read(numbered(range(100)), relay(10), limit=25)
    assert len(got) == 25
    assert backfill.reason == "the relay sends more events than are taken"


def ignores_limit(stored: Stored, wanted: dict[str, Any]) -> Stored:
    return stored[::-1]


def repeats_a_page(stored: Stored, wanted: dict[str, Any]) -> Stored:
    return stored[::-1][:500]


def ascending(stored: Stored, wanted: dict[str, Any]) -> Stored:
    return [one for one in stored if one[1] <= wanted.get("until", 2**53)][:500]


def shuffled(stored: Stored, wanted: dict[str, Any]) -> Stored:
    page = relay(500)(stored, wanted)
    return page[::2] + page[1::2]


def says_each_twice(stored: Stored, wanted: dict[str, Any]) -> Stored:
    return [one for one in relay(500)(stored, wanted) for _ in range(2)]


@pytest.mark.parametrize(
    ("answer", "count", "comes", "words"),
    [
        (ignores_limit, 6000, 6000, ""),
        (ignores_limit, 1203, 1203, "ignores the time"),
        (repeats_a_page, 1203, 500, "ignores the time"),
        (ascending, 1203, 500, "out of order"),
        (shuffled, 1203, 1203, "out of order"),
        (shuffled, 99, 99, ""),
        (says_each_twice, 1203, 1203, ""),
    ],
)
def test_relays_that_page_badly(answer: Answer, count: int, comes: int, words: str) -> None:
    got, backfill, requests = read(numbered(range(count)), answer)
    assert len(got) == comes
    assert words in backfill.reason
    assert bool(words) == bool(backfill.reason)
    assert len(requests) < 10
