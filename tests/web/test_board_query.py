"""Queries are read strictly, and every fault is named."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.scores.leaderboard import Position
from app.web.board_query import BoardQuery, cursor_text, parse_query
from app.web.problems import Problem

POSITION = Position(72, 1_800_000_000, "0123456789abcdef" * 4)
# One byte of score, eight of time, thirty-two of id, big-endian, in the alphabet of RFC 4648 for addresses.
CURSOR = "SAAAAABrSdIAASNFZ4mrze8BI0VniavN7wEjRWeJq83vASNFZ4mrze8"


def faults(query: str) -> dict[str, str]:
    with pytest.raises(Problem) as caught:
        parse_query(query.encode())
    assert caught.value.slug == "invalid-query"
    errors = caught.value.errors
    assert errors
    assert caught.value.detail.startswith(f"{errors[0]['field']}: ")
    return {error["field"]: error["message"] for error in errors}


def test_nothing_asked_is_the_top() -> None:
    assert parse_query(b"") == BoardQuery(limit=50, cursor=None, since=None, until=None, around=None)


def test_everything_asked() -> None:
    query = parse_query(b"limit=500&since=1700000000&until=1800000000&around=%C3%88ve")
    assert query == BoardQuery(limit=500, since=1_700_000_000, until=1_800_000_000, around="\u00c8ve")
    assert parse_query(f"cursor={CURSOR}".encode()).cursor == POSITION


def test_a_cursor_is_the_bytes_of_a_position() -> None:
    assert cursor_text(POSITION) == CURSOR
    raw = base64.urlsafe_b64decode(CURSOR + "=")
    assert raw == bytes([72]) + (1_800_000_000).to_bytes(8, "big") + bytes.fromhex(POSITION.event_id)


@given(st.integers(0, 120), st.integers(0, 2**53 - 1), st.binary(min_size=32, max_size=32))
def test_a_cursor_comes_back_as_it_was(score: int, created_at: int, event_id: bytes) -> None:
    position = Position(score, created_at, event_id.hex())
    assert parse_query(f"cursor={cursor_text(position)}".encode()).cursor == position


@pytest.mark.parametrize(
    ("query", "field"),
    [
        ("limit=0", "limit"),
        ("limit=501", "limit"),
        ("limit=-1", "limit"),
        ("limit=5.0", "limit"),
        ("limit=%D9%A3", "limit"),  # an Arabic three
        ("limit=", "limit"),
        ("limit=1_0", "limit"),
        ("limit=1&limit=2", "limit"),
        ("since=month", "since"),
        ("since=-1", "since"),
        ("since=1e9", "since"),
        ("since=", "since"),
        ("until=day", "until"),
        ("until=9999999999999999", "until"),
        ("around=", "around"),
        ("cursor=", "cursor"),
        ("cursor=x", "cursor"),
        (f"cursor={CURSOR}A", "cursor"),
        (f"cursor={CURSOR[:-1]}%C3%A9", "cursor"),
        (f"cursor={CURSOR[:-1]}!", "cursor"),
        (f"cursor={CURSOR}&around=alice", "cursor"),
        ("sinse=day", "sinse"),
        ("=1", ""),
    ],
)
def test_a_fault_is_named(query: str, field: str) -> None:
    assert list(faults(query)) == [field]


def test_all_faults_are_named_at_once() -> None:
    assert faults("limit=x&since=y&until=z&Limit=1").keys() == {"limit", "since", "until", "Limit"}
    assert "cursor" in faults("order=asc")["order"], "the parameters there are"
    assert len(next(iter(faults(f"{'x' * 4000}=1")))) == 64


@given(st.binary(max_size=200))
def test_any_bytes_are_a_query_or_a_problem(query: bytes) -> None:
    try:
        assert isinstance(parse_query(query), BoardQuery)
    except Problem as problem:
        assert problem.status == 422


def test_a_period_begins_at_a_whole_minute() -> None:
    assert parse_query(b"since=day").window(1_800_000_059.9) == (1_800_000_000 - 86_400, None)
    assert parse_query(b"since=week").window(1_800_000_060.0) == (1_800_000_060 - 604_800, None)
    assert parse_query(b"since=7&until=9").window(0.0) == (7, 9)


@pytest.mark.parametrize(
    ("query", "costly"),
    [("", False), ("since=day", False), ("since=7", True), ("until=7", True), ("around=x&limit=3", False)],
)
def test_a_ranking_for_one_call_alone_is_costly(query: str, costly: bool) -> None:
    assert parse_query(query.encode()).is_costly is costly


def test_proved_scores_are_asked_for() -> None:
    assert parse_query(b"proved=1&level=sharp").wanted == (True, "sharp")
    assert parse_query(b"proved=0").wanted.all
    assert parse_query(b"").wanted.all
    assert not parse_query(b"level=master").wanted.all
    assert faults("proved=yes").keys() == {"proved"}
    assert faults("level=hard").keys() == {"level"}
