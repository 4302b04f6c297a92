"""Counters in memory."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st
from limits import parse

from app.web.local_counters import LocalCounters
from tests.clock import Clock

MINUTE = parse("3/minute")


@given(st.lists(st.tuples(st.sampled_from("ab"), st.floats(0, 9)), max_size=40))
def test_a_window_begins_with_the_first_call_and_holds_the_rate(calls: list[tuple[str, float]]) -> None:
    clock = Clock(1000.0)
    counters = LocalCounters(clock)
    windows: dict[str, list[float]] = {}  # begin, count
    for who, later in calls:
        clock.now += later
        window = windows.get(who)
        if window is None or clock.now >= window[0] + 10:
            window = windows[who] = [clock.now, 0]
        window[1] += 1
        wait = counters.hit(parse("3/10 seconds"), (who,))
        assert (wait is None) == (window[1] <= 3)
        assert wait is None or abs(wait - (window[0] + 10 - clock.now)) < 1e-6


def test_who_is_all_its_parts_and_each_rate_counts_apart() -> None:
    counters = LocalCounters(Clock(1000.0))
    once = parse("1/minute")
    assert counters.hit(once, ("address", "a")) is None
    assert counters.hit(once, ("work", "a")) is None
    assert counters.hit(once, ("address", "b")) is None
    assert counters.hit(parse("1/hour"), ("address", "a")) is None
    assert counters.hit(once, ("address", "a")) == 60


def test_what_has_run_out_does_not_pile_up() -> None:
    clock = Clock(1000.0)
    counters = LocalCounters(clock)
    for number in range(10_000):
        clock.now += 1
        counters.hit(MINUTE, (str(number),))
    assert len(counters) <= 62


def test_there_are_never_more_than_it_can_hold() -> None:
    counters = LocalCounters(Clock(1000.0), capacity=100)
    once = parse("1/minute")
    for number in range(1000):
        counters.hit(once, (str(number),))
    assert len(counters) <= 100
    assert counters.hit(once, ("999",)) is not None
    assert counters.hit(once, ("0",)) is None
