"""Rankings of a span of time are right, and not made more often than they are worth."""

from __future__ import annotations

from app.web.board_windows import Windows
from tests.clock import Clock
from tests.web.boards import Source


def names(windows: Windows, since: int | None, until: int | None) -> list[str]:
    return [row.username for _, row in windows.rows(since, until).ranking.page(99)]


def test_both_ends_are_included() -> None:
    source = Source()
    for second in range(5):
        source.add(f"p{second}", 100 - second, 1000 + second)
    windows = Windows(source.board)
    assert names(windows, None, None) == ["p0", "p1", "p2", "p3", "p4"]
    assert names(windows, 1001, 1003) == ["p1", "p2", "p3"]
    assert names(windows, 1003, None) == ["p3", "p4"]
    assert names(windows, None, 1000) == ["p0"]
    assert names(windows, 1003, 1001) == []


def test_a_row_is_found_by_name_only_within_the_span() -> None:
    source = Source()
    old, new = source.add("old", 1, 1000), source.add("new", 2, 2000)
    rows = Windows(source.board).rows(1500, None)
    assert (rows.row("new"), rows.row("old"), rows.row("nobody")) == (new, None, None)
    assert Windows(source.board).rows(None, None).row("old") == old


def test_a_span_follows_the_board_within_a_second() -> None:
    source, clock = Source(), Clock(50.0)
    windows = Windows(source.board, clock)
    source.add("one", 1, 1000)
    assert names(windows, 0, None) == ["one"]
    source.add("two", 2, 1000)
    clock.now = 50.9
    assert names(windows, 0, None) == ["one"]
    assert names(windows, None, None) == ["two", "one"], "the whole board is never old"
    clock.now = 51.0
    assert names(windows, 0, None) == ["two", "one"]


def test_a_span_of_a_board_that_stays_the_same_is_made_once() -> None:
    source, clock = Source(), Clock(50.0)
    windows = Windows(source.board, clock)
    source.add("one", 1, 1000)
    first = windows.rows(0, None)
    clock.now = 5000.0
    assert windows.rows(0, None) is first


def test_few_spans_are_kept() -> None:
    source = Source()
    windows = Windows(source.board, Clock(0.0))
    first = windows.rows(0, None)
    for since in range(1, 8):
        windows.rows(since, None)
    assert windows.rows(0, None) is first, "what was used last stays"
    for since in range(8, 16):
        windows.rows(since, None)
    assert windows.rows(0, None) is not first
