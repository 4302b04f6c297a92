from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.scores.ordered import Ordered


@given(st.lists(st.tuples(st.sampled_from(["add", "remove", "look"]), st.integers(0, 9))))
def test_looking_at_any_time_shows_what_is_there_in_order(steps: list[tuple[str, int]]) -> None:
    ordered, there = Ordered[int](lambda number: (-number, str(number))), set[int]()
    for step, number in steps:
        if step == "add" and number not in there:
            ordered.add(str(number), number)
            there.add(number)
        elif step == "remove" and number in there:
            ordered.remove(str(number), number)
            there.remove(number)
        elif step == "look":
            assert [ordered[key] for key in ordered.keys] == sorted(there, reverse=True)
        assert len(ordered) == len(there)
