"""Parts of a board as JSON, against ranks and pages worked out by hand."""

from __future__ import annotations

import json
import random
from typing import Any

import pytest
from pydantic import TypeAdapter

from app.web.answers import BoardDocument
from app.web.board import BoardView, NotOnBoard
from app.web.board_query import parse_query
from tests.clock import Clock
from tests.web.boards import NOW, RELAY, Relay, Source


def read(view: BoardView, query: str = "") -> dict[str, Any]:
    body = view.render(parse_query(query.encode())).body
    TypeAdapter(BoardDocument).validate_json(body)
    document: dict[str, Any] = json.loads(body)
    return document


_SCORES = [("Anna", 100, 0), ("Bob", 90, 0), ("Carla", 90, 5), ("Dan", 80, 0), ("Eve", 0, 90_000)]


def shown(document: dict[str, Any]) -> list[tuple[int, str]]:
    return [(entry["rank"], entry["username"]) for entry in document["entries"]]


@pytest.fixture
def source() -> Source:
    """Ranks 1, 2, 2, 4, 5; of those with 90 points the earlier one is first."""
    source = Source()
    for name, score, ago in _SCORES:
        source.add(name, score, NOW - ago)
    return source


@pytest.fixture
def view(source: Source) -> BoardView:
    return BoardView(source, Clock(NOW))


def test_a_row_is_all_that_a_reader_needs(view: BoardView, source: Source) -> None:
    row = source.board.row("anna")
    assert row is not None
    assert read(view, "limit=1")["entries"] == [
        {
            "rank": 1,
            "username": "Anna",
            "score": 100,
            "created_at": NOW,
            "event_id": row.event_id,
            "event": json.loads(row.event),
            "proof": None,
        }
    ]


def test_pages_follow_one_another(view: BoardView) -> None:
    first = read(view, "limit=2")
    assert shown(first) == [(1, "Anna"), (2, "Carla")]
    second = read(view, f"limit=2&cursor={first['next']}")
    assert shown(second) == [(2, "Bob"), (4, "Dan")]
    third = read(view, f"limit=2&cursor={second['next']}")
    assert (shown(third), third["next"]) == ([(5, "Eve")], None)
    assert read(view, "limit=5")["next"] is None


def test_an_empty_board_is_one_too() -> None:
    document = read(BoardView(Source(), Clock(NOW)))
    assert (document["entries"], document["next"], document["complete"]) == ([], None, True)


def test_a_cursor_is_right_whatever_changes(view: BoardView, source: Source) -> None:
    cursor = read(view, "limit=2")["next"]
    source.delete("Carla")  # the very row where the page ended
    source.add("Anna", 5, NOW + 1)  # from above the cursor to below it
    source.add("Zoe", 120)
    assert shown(read(view, f"cursor={cursor}")) == [(2, "Bob"), (3, "Dan"), (4, "Anna"), (5, "Eve")]


def test_a_row_is_seen_once_while_others_come_and_go() -> None:
    """Rows that do not change are on exactly one page, whatever happens between pages."""
    source, rng = Source(), random.Random(5)
    for number in range(60):
        source.add(f"still{number}", rng.randrange(121), NOW - rng.randrange(99), number)
    view = BoardView(source, Clock(NOW))
    seen: list[str] = []
    cursor = ""
    while True:
        page = read(view, "limit=7" + cursor)
        seen += [entry["username"] for entry in page["entries"]]
        if page["next"] is None:
            break
        cursor = f"&cursor={page['next']}"
        for _ in range(5):
            name = f"moving{rng.randrange(20)}"
            source.add(name, rng.randrange(121), NOW + len(seen), rng.getrandbits(200))
    still = [name for name in seen if name.startswith("still")]
    assert len(still) == len(set(still)) == 60


@pytest.mark.parametrize(
    ("query", "expected", "more"),
    [
        ("around=bob&limit=3", ["Carla", "Bob", "Dan"], True),
        ("around=BOB&limit=1", ["Bob"], True),
        ("around=bob&limit=4", ["Carla", "Bob", "Dan", "Eve"], False),
        ("around=anna&limit=3", ["Anna", "Carla", "Bob"], True),
        ("around=carla&limit=5", ["Anna", "Carla", "Bob", "Dan", "Eve"], False),
        ("around=eve&limit=3", ["Dan", "Eve"], False),
    ],
)
def test_around_a_name(view: BoardView, query: str, expected: list[str], more: bool) -> None:
    document = read(view, query)
    assert [name for _, name in shown(document)] == expected
    assert (document["next"] is not None) is more


@pytest.mark.parametrize("query", ["around=nobody", "around=eve&since=day"])
def test_around_a_name_that_is_not_there(view: BoardView, query: str) -> None:
    with pytest.raises(NotOnBoard):
        read(view, query)


def test_a_span_has_ranks_of_its_own(view: BoardView, source: Source) -> None:
    assert [name for _, name in shown(read(view, "since=day"))] == ["Anna", "Carla", "Bob", "Dan"]
    assert shown(read(view, f"until={NOW - 5}")) == [(1, "Carla"), (2, "Eve")]
    assert shown(read(view, f"since={NOW}&around=dan&limit=2")) == [(3, "Dan")]
    page = read(view, f"since={NOW}&limit=1")
    assert shown(read(view, f"since={NOW}&limit=1&cursor={page['next']}")) == [(2, "Bob")]


def test_an_unchanged_board_is_rendered_once(view: BoardView, source: Source) -> None:
    first = view.render(parse_query(b""))
    assert view.render(parse_query(b"")) is first
    source.add("Anna", 100)  # known already
    assert view.render(parse_query(b"")) is first
    source.add("Dan", 81, NOW + 1)
    second = view.render(parse_query(b""))
    assert second.etag != first.etag
    source.relays, source.complete = (Relay(state="failed", reason="gone", complete=False),), False
    source.turns += 1
    third = view.render(parse_query(b""))
    assert third.etag not in {first.etag, second.etag}
    assert json.loads(third.body)["relays"] == [
        {"url": RELAY, "state": "failed", "reason": "gone", "complete": False}
    ]
    assert json.loads(third.body)["complete"] is False


def test_few_answers_are_kept(view: BoardView) -> None:
    first = view.render(parse_query(b""))
    for limit in range(1, 17):
        view.render(parse_query(f"limit={limit}".encode()))
    assert view.render(parse_query(b"")) is not first
    assert view.render(parse_query(b"")).etag == first.etag


def test_what_is_asked_for_all_the_time_is_kept(view: BoardView) -> None:
    first = view.render(parse_query(b""))
    for limit in range(1, 40):
        view.render(parse_query(f"limit={limit}".encode()))
        assert view.render(parse_query(b"")) is first


def test_other_forms_of_the_same_rows_are_kept_apart(view: BoardView) -> None:
    query = parse_query(b"")
    texts = {form: view.keep(query, form, lambda _, form=form: form.encode()) for form in ("a", "b")}
    assert [texts[form].body for form in ("a", "b")] == [b"a", b"b"]
    assert view.keep(query, "a", lambda _: b"made again") is texts["a"]
