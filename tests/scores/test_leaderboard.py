from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.scores.leaderboard import AHEAD_SECONDS, Leaderboard, Position, Ranking
from app.scores.signed_score import Deletion, SignedScore
from tests.scores import board_events
from tests.scores.board_events import deletion, score

if TYPE_CHECKING:
    import random
    from collections.abc import Iterable

    from app.scores.leaderboard import Entry

Event = SignedScore | Deletion
NOW = 10_000.0


def board_of(*events: Event, now: float = NOW) -> Leaderboard:
    board = Leaderboard()
    for event in events:
        board.add(event, now)
    return board


def shown(entries: Iterable[Entry]) -> list[tuple[int, str, int]]:
    return [(rank, row.username, row.score) for rank, row in entries]


def naive(events: Iterable[Event], now: float) -> list[tuple[int, SignedScore]]:
    """Sort everything: the newest version of each name that no deletion covers."""
    seen = [event for event in events if event.created_at <= now + 900]
    made = [event for event in seen if isinstance(event, SignedScore)]
    gone = [event for event in seen if not isinstance(event, SignedScore)]
    rows = []
    for d in {one.username.lower() for one in made}:
        versions = [one for one in made if one.username.lower() == d]
        newest = min(versions, key=lambda one: (-one.created_at, one.event_id))
        if not any(
            newest.event_id in one.event_ids or (d in one.names and newest.created_at <= one.created_at)
            for one in gone
        ):
            rows.append(newest)
    rows.sort(key=lambda one: (-one.score, one.created_at, one.event_id))
    return [(1 + sum(other.score > one.score for other in rows), one) for one in rows]


@given(
    board_events.events,
    st.randoms(use_true_random=False),
    st.lists(st.sampled_from([0, 300, 1500, 3000]), min_size=1, max_size=4).map(sorted),
)
def test_the_board_is_what_sorting_everything_gives(
    events: list[Event], order: random.Random, clock: list[int]
) -> None:
    """Under any order, with repetitions, while time passes."""
    arrivals = events + order.sample(events, len(events) // 2)
    order.shuffle(arrivals)
    board = Leaderboard()
    came: list[Event] = []
    now = clock[0]
    for step, event in enumerate(arrivals):
        earlier, now = now, clock[step * len(clock) // len(arrivals)]
        before = {row.d: row for _, row in naive(came, earlier)}
        came.append(event)
        version = board.version
        changed = board.add(event, now)
        expected = naive(came, now)
        assert [(rank, row) for rank, row in board.ranking.page(100)] == expected
        after = {row.d: row for _, row in expected}
        differ = {d for d in before.keys() | after.keys() if before.get(d) != after.get(d)}
        assert changed == differ or (changed > differ and now > earlier)  # came in time, and is gone again
        assert (board.version > version) == bool(changed)
        assert all(board.row(d) == after.get(d) for d in ("alice", "bob", "carla", "dora"))
    board.advance(clock[-1])
    assert [(rank, row) for rank, row in board.ranking.page(100)] == naive(came, clock[-1])
    assert board.early == len({one.event_id for one in came if one.created_at > clock[-1] + 900})


@given(st.lists(board_events.scores, max_size=20, unique_by=lambda one: one.event_id))
def test_every_way_into_the_ranking_agrees_with_the_whole_of_it(rows: list[SignedScore]) -> None:
    ranking = Ranking(rows)
    whole = ranking.page(100)
    for place, entry in enumerate(whole):
        assert ranking.page(3, start=place) == whole[place : place + 3]
        assert ranking.after(entry.position, 4) == whole[place + 1 : place + 5]
        assert ranking.around(entry.row, 2, 1) == whole[max(place - 2, 0) : place + 2]
        assert ranking.rank(entry.row.score) == entry.rank


def test_competition_ranks_and_the_order_of_ties() -> None:
    board = board_of(
        score("dora", 50, 5),
        score("carla", 70, 9),
        score("bob", 70, 3),
        score("alice", 90, 7),
        score("emma", 70, 3, event_id="a"),
    )
    assert shown(board.ranking.page(10)) == [
        (1, "alice", 90),
        (2, "emma", 70),
        (2, "bob", 70),
        (2, "carla", 70),
        (5, "dora", 50),
    ]
    entry = board.entry("dora")
    assert entry is not None
    assert entry.rank == 5
    assert board.entry("nobody") is None


def test_newest_not_best_and_of_equally_new_ones_the_lowest_id() -> None:
    board = board_of(score("Alice", 90, 1), score("alice", 10, 2))
    assert shown(board.ranking.page(10)) == [(1, "alice", 10)]
    for order in (1, -1):
        two = [score("bob", 1, 5, event_id="b"), score("bob", 2, 5, event_id="a")][::order]
        assert shown(board_of(*two).ranking.page(10)) == [(1, "bob", 2)]


def test_a_deletion_covers_what_is_not_newer_than_itself() -> None:
    board = board_of(score("alice", 50, 10), deletion(10, "alice"), score("bob", 40, 11), deletion(10, "bob"))
    assert shown(board.ranking.page(10)) == [(1, "bob", 40)]
    assert board.add(score("alice", 60, 10, event_id="0"), NOW) == frozenset()
    assert board.add(score("alice", 20, 11), NOW) == {"alice"}
    assert shown(board.ranking.page(10)) == [(1, "bob", 40), (2, "alice", 20)]


def test_an_older_version_does_not_come_back_when_the_newest_is_deleted_by_its_id() -> None:
    events = [score("alice", 80, 1), score("alice", 50, 2), deletion(3, ids=("alice-50-2",))]
    for first in range(3):
        board = board_of(*events[first:], *events[:first])
        assert len(board) == 0


def test_what_is_too_far_ahead_waits_for_its_time() -> None:
    board = board_of(score("alice", 50, 1), score("alice", 99, 2000), now=1000)
    assert (board.early, board.next_early) == (1, 1100)
    assert board.advance(1099) == frozenset()
    assert board.version == 1
    assert board.advance(1100) == {"alice"}
    assert (board.early, board.next_early, board.version) == (0, None, 2)
    assert shown(board.ranking.page(1)) == [(1, "alice", 99)]
    assert board.advance(0) == frozenset()
    assert board.add(score("bob", 1, 2000), 0) == {"bob"}, "a clock that steps back takes nothing away"
    assert AHEAD_SECONDS == 900


def test_what_is_news() -> None:
    board = board_of(score("alice", 50, 10, event_id="b"), deletion(5, "bob"), now=0)
    assert not board.would_change("alice", 10, "b")
    assert not board.would_change("alice", 9, "a")
    assert not board.would_change("alice", 10, "c")
    assert board.would_change("alice", 10, "a")
    assert board.would_change("carla", 1, "b")
    early = score("dora", 1, 5000)
    board.add(early, 0)
    assert not board.would_change("dora", 5000, early.event_id)
    assert board.knows_deletion(deletion(5, "bob").event_id)
    assert not board.knows_deletion("other")


def test_a_cursor_stays_right_while_the_board_changes() -> None:
    board = board_of(*(score(f"p{n}", 100 - n, n) for n in range(10)))
    position = board.ranking.page(4)[-1].position
    assert position == Position(97, 3, "p3-97-3")
    for event in (score("p3", 1, 50), score("p1", 2, 50), score("new", 120, 50)):
        board.add(event, NOW)
    assert [entry.row.username for entry in board.ranking.after(position, 3)] == ["p4", "p5", "p6"]
    assert board.ranking.after(position, 1)[0].rank == 4  # new, p0, p2 stand before it


def test_a_window_of_time_ranks_what_was_made_in_it() -> None:
    board = board_of(score("old", 120, 9), score("a", 10, 10), score("b", 30, 15), score("c", 40, 20))
    board.add(score("d", 90, 21), NOW)
    week = board.window(10, 20)
    assert shown(week.page(10)) == [(1, "c", 40), (2, "b", 30), (3, "a", 10)]
    assert shown(board.window(since=21).page(10)) == [(1, "d", 90)]
    assert shown(board.window(until=9).page(10)) == [(1, "old", 120)]
    assert len(board.window()) == 5
    board.add(score("c", 1, 30), NOW)
    assert len(week) == 3
    assert shown(board.window(10, 20).page(1)) == [(1, "b", 30)]


def test_around_somebody_who_is_not_there() -> None:
    with pytest.raises(ValueError, match="alice"):
        Ranking().around(score("alice", 1), 1, 1)


@pytest.mark.parametrize("size", [1_000, 16_000])
def test_a_change_touches_few_rows_of_a_large_board(size: int) -> None:
    board = board_of(*(score(f"p{n}", n % 121, n) for n in range(size)), now=1e9)
    board.ranking.page(1)
    comparisons = 0

    class Counted(int):
        def __lt__(self, other: int) -> bool:
            nonlocal comparisons
            comparisons += 1
            return int(self) < int(other)

        def __eq__(self, other: object) -> bool:
            nonlocal comparisons
            comparisons += 1
            return int(self) == other

        __hash__ = int.__hash__

        def __neg__(self) -> Counted:
            return Counted(-int(self))

    new = SignedScore("p500", Counted(60), size + 1, "f" * 64, "{}")
    board.add(new, 1e9)
    assert board.ranking.around(new, 1, 1)[1].row == new
    assert 0 < comparisons < 200
