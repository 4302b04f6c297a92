"""What an address asks of the page /, and addresses made from it."""

from __future__ import annotations

import pytest

from app.web.board_query import BoardQuery
from app.web.pages.board_filter import BoardFilter


@pytest.mark.parametrize(
    ("asked", "meant"),
    [
        ({}, BoardFilter()),
        ({"period": "week", "q": " anna "}, BoardFilter("week", "anna")),
        ({"proved": "1"}, BoardFilter(proved=True)),
        ({"level": "sharp"}, BoardFilter(proved=True, level="sharp")),
        ({"proved": "0", "level": "master"}, BoardFilter(proved=True, level="master")),
        ({"period": "year", "proved": "yes", "level": "hard", "q": "a" * 99}, BoardFilter(search="a" * 64)),
    ],
)
def test_what_makes_no_sense_is_left_out(asked: dict[str, str], meant: BoardFilter) -> None:
    assert BoardFilter.read(asked) == meant


def test_addresses_ask_for_the_same() -> None:
    asked = BoardFilter("week", "è & co", proved=True, level="gentle")
    assert asked.address("abc") == "?period=week&q=%C3%A8+%26+co&proved=1&level=gentle&cursor=abc"
    assert asked.of_period("day") == "?period=day&q=%C3%A8+%26+co&proved=1&level=gentle"
    assert BoardFilter().address() == "?period=all"


def test_a_cursor_that_was_given_out_nowhere_begins_at_the_top() -> None:
    assert BoardFilter("day", proved=True).query("nonsense") == BoardQuery(since="day", proved=True)
    assert BoardFilter(proved=True, level="sharp").query("") == BoardQuery(proved=True, level="sharp")
