"""A clock that is not hurried: by hand, and that nobody ever loses more than half of their time."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.patient_clock import PatientClock
from tests.clock import Clock

DAY = 86_400.0


def test_it_reads_what_a_good_clock_reads() -> None:
    wall, passed = Clock(1_000.0), Clock(5.0)
    clock = PatientClock(wall, passed)
    assert clock() == 1_000.0
    for seconds in (0.0, 0.5, 3_600.0, DAY):
        wall.now += seconds
        passed.now += seconds
        assert clock() == wall.now


def test_a_step_ahead_is_caught_up_with_in_as_much_time() -> None:
    wall, passed = Clock(1_000.0), Clock(5.0)
    clock = PatientClock(wall, passed)
    wall.now += DAY
    assert clock() == 1_000.0
    for _ in range(4):
        wall.now += DAY / 4
        passed.now += DAY / 4
    assert clock() == 1_000.0 + 2 * DAY == wall.now


def test_a_step_that_is_taken_back_leaves_nothing() -> None:
    wall, passed = Clock(1_000.0), Clock(5.0)
    clock = PatientClock(wall, passed)
    wall.now += 365 * DAY
    passed.now += 10.0
    assert clock() == 1_020.0
    wall.now = 1_010.0
    assert clock() == 1_010.0


def test_it_goes_back_with_the_wall_clock() -> None:
    wall, passed = Clock(1_000.0), Clock(5.0)
    clock = PatientClock(wall, passed)
    wall.now -= 400.0
    assert clock() == 600.0


@given(st.lists(st.tuples(st.floats(0, 1e5), st.floats(-1e9, 1e9)), max_size=20))
def test_nobody_loses_more_than_half_of_their_time(steps: list[tuple[float, float]]) -> None:
    wall, passed = Clock(1e9), Clock(0.0)
    clock = PatientClock(wall, passed)
    for seconds, jump in steps:
        passed.now += seconds
        wall.now += seconds + jump
        assert clock() <= min(wall.now, 1e9 + 2 * passed.now + 1e-3)
