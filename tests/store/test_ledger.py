"""Signing into the store: created_at by hand, supersession, policies, the clock, revoked keys."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from hypothesis import HealthCheck, given
from hypothesis import settings as hypothesis_settings
from hypothesis import strategies as st

from app.store.api_keys import add_key, revoke_key
from app.store.journal import Signed
from app.store.ledger import NotImproved
from app.store.refusals import ClockBehind, KeyRevoked, TooFast
from tests.service import rows
from tests.store.bench import RELAYS, Bench

if TYPE_CHECKING:
    from collections.abc import Iterator

    from app.store.ledger import Answer

ONE, TWO = RELAYS


@pytest.fixture
def bench(url: str) -> Iterator[Bench]:
    made = Bench(url, now=1000.75)
    yield made
    made.database.close()


def times(answers: object) -> list[int]:
    return [answer.event.created_at for answer in answers]  # type: ignore[attr-defined]


def test_the_first_score_has_the_time_of_the_clock(bench: Bench) -> None:
    (signed,) = bench.append(("Alice", 72))
    assert isinstance(signed, Signed)
    assert signed.event.created_at == 1000
    assert signed.states == {ONE: "pending", TWO: "pending"}
    assert signed.held == ()
    assert signed.payload == signed.event.to_json()
    assert rows(bench.path, "SELECT id, d, created_at, username, score, payload, signed_at FROM event") == [
        (signed.event.id, "alice", 1000, "Alice", 72, signed.payload, 1000.75)
    ]


def test_within_one_transaction_a_name_rises_and_only_its_last_is_sent(bench: Bench) -> None:
    answers = bench.append(("alice", 1), ("Bob", 5), ("ALICE", 2), ("alice", 3), hold=RELAYS)
    assert times(answers) == [1000, 1000, 1001, 1002]
    states = [set(answer.states.values()) for answer in answers if isinstance(answer, Signed)]
    assert states == [{"superseded"}, {"pending"}, {"superseded"}, {"pending"}]
    held = [[delivery.relay for delivery in answer.held] for answer in answers if isinstance(answer, Signed)]
    assert held == [[], [ONE, TWO], [], [ONE, TWO]]
    assert [state for *_, state in bench.states()] == [
        "superseded", "superseded", "pending", "pending", "superseded", "superseded", "pending", "pending",
    ]  # fmt: skip


def test_across_transactions_a_newer_score_supersedes_what_is_pending(bench: Bench) -> None:
    bench.append(("alice", 1), ("bob", 5), hold=[ONE])
    with bench.database.writer.begin() as connection:
        connection.exec_driver_sql("UPDATE delivery SET state = 'accepted', holder = NULL WHERE relay_id = 1")
    assert times(bench.append(("Alice", 2))) == [1001]
    assert bench.states() == [
        ("alice", 1, ONE, "accepted"), ("alice", 1, TWO, "superseded"),
        ("bob", 5, ONE, "accepted"), ("bob", 5, TWO, "pending"),
        ("Alice", 2, ONE, "pending"), ("Alice", 2, TWO, "pending"),
    ]  # fmt: skip
    assert rows(
        bench.path, "SELECT count(*) FROM delivery WHERE state = 'superseded' AND due IS NOT NULL"
    ) == [(0,)]


def test_time_that_has_passed_is_used(bench: Bench) -> None:
    bench.append(("alice", 1))
    bench.now = 1005.0
    assert times(bench.append(("alice", 2), ("alice", 3))) == [1005, 1006]
    bench.now = 1005.9
    assert times(bench.append(("alice", 4))) == [1007]


def test_an_address_leads_the_clock_by_sixty_seconds_at_most(bench: Bench) -> None:
    answers = bench.append(*[("alice", 1)] * 62)
    assert times(answers[:61]) == list(range(1000, 1061))  # 1060 is 59.25 s ahead of 1000.75
    refused = answers[61]
    assert isinstance(refused, TooFast)  # 1061 would be 60.25 s ahead
    assert refused.retry_after == 1
    bench.now = 1000.99
    assert isinstance(bench.append(("alice", 1))[0], TooFast)
    bench.now = 1001.0
    assert times(bench.append(("alice", 1))) == [1061]
    bench.now = 990.0
    (refused,) = bench.append(("alice", 1))
    assert isinstance(refused, TooFast)
    assert refused.retry_after == 1062 - 60 - 990


def test_a_clock_behind_signs_nothing(bench: Bench) -> None:
    bench.append(("alice", 1))
    for now, behind in ((940.74, 61), (0.0, 1001), (-5.0, 1006)):
        bench.now = now
        answers = bench.append(("alice", 2), ("bob", 2))
        assert all(isinstance(answer, ClockBehind) for answer in answers)
        assert [answer.seconds for answer in answers if isinstance(answer, ClockBehind)] == [behind] * 2
    with bench.database.reader.begin() as connection, pytest.raises(ClockBehind, match="set the clock"):
        bench.ledger.check_clock(connection)
    assert rows(bench.path, "SELECT count(*) FROM event") == [(1,)]
    bench.now = 940.75
    with bench.database.reader.begin() as connection:
        bench.ledger.check_clock(connection)
    alice, bob = bench.append(("alice", 2), ("bob", 2))
    assert isinstance(alice, TooFast)  # 1001 would be 60.25 s ahead
    assert times([bob]) == [940]


def test_a_score_is_due_now_also_where_the_clock_went_back_a_little(bench: Bench) -> None:
    bench.append(("alice", 1))
    bench.now = 970.0
    bench.append(("bob", 1))
    due = "SELECT DISTINCT due FROM delivery JOIN event ON seq = event_seq WHERE d = 'bob'"
    assert rows(bench.path, due) == [(970.0,)]


def test_the_highest_time_seen_stays_the_measure(bench: Bench) -> None:
    """Scores that are signed with the clock a little back must not lower the bar, step by step."""
    bench.append(("alice", 1))
    bench.now = 950.0
    bench.append(("bob", 1))
    bench.now = 930.0
    assert isinstance(bench.append(("carol", 1))[0], ClockBehind)


@pytest.mark.parametrize(
    ("score", "expected"), [(0, NotImproved), (71, NotImproved), (72, NotImproved), (73, Signed)]
)
def test_the_policy_best(url: str, score: int, expected: type[Answer]) -> None:
    path = url
    first = Bench(path, best=True)
    (standing,) = first.append(("Alice", 72))
    assert isinstance(standing, Signed)
    first.database.close()
    again = Bench(path, best=True)
    (answer,) = again.append(("aLICE", score))
    assert isinstance(answer, expected)
    if isinstance(answer, NotImproved):
        assert answer.event_id == standing.event.id
    again.database.close()


def test_the_policy_best_within_one_transaction(url: str) -> None:
    bench = Bench(url, best=True)
    answers = bench.append(("a", 5), ("a", 7), ("a", 7), ("a", 6), ("a", 8))
    assert [type(answer) for answer in answers] == [Signed, Signed, NotImproved, NotImproved, Signed]
    second = answers[1]
    assert isinstance(second, Signed)
    assert answers[2] == answers[3] == NotImproved(second.event.id)
    bench.database.close()


def test_a_revoked_key_signs_nothing_and_others_of_the_transaction_do(bench: Bench) -> None:
    with bench.database.writer.begin() as connection:
        good, _ = add_key(connection, "good", now=1)
        bad, _ = add_key(connection, "bad", now=1)
        revoke_key(connection, bad.id, now=2)
    assert isinstance(bench.append(("alice", 1), key_id=bad.id)[0], KeyRevoked)
    assert isinstance(bench.append(("alice", 1), key_id="unknown")[0], KeyRevoked)
    assert isinstance(bench.append(("alice", 1), key_id=good.id)[0], Signed)
    assert isinstance(bench.append(("alice", 2), key_id=None)[0], Signed)
    assert rows(bench.path, "SELECT count(*) FROM event") == [(2,)]


def test_two_processes_rise_over_one_another(url: str) -> None:
    one, other = Bench(url), Bench(url)
    assert one.holder != other.holder
    assert [times(bench.append(("alice", 1)))[0] for bench in (one, other, one, other)] == [
        1000, 1001, 1002, 1003,
    ]  # fmt: skip
    for bench in (one, other):
        bench.database.close()


@given(
    st.lists(
        st.tuples(
            st.floats(-30, 30).map(lambda step: round(step, 2)),
            st.lists(st.sampled_from(["a", "A", "b"]), min_size=1, max_size=4),
        ),
        max_size=12,
    )
)
@hypothesis_settings(
    deadline=None, max_examples=15, suppress_health_check=[HealthCheck.function_scoped_fixture]
)
def test_whatever_the_clock_does_every_address_rises(
    tmp_path_factory: pytest.TempPathFactory, steps: list[tuple[float, list[str]]]
) -> None:
    bench = Bench(tmp_path_factory.mktemp("rise") / "s.db", now=10_000.0)
    last: dict[str, int] = {}
    for step, names in steps:
        bench.now += step
        for name, answer in zip(names, bench.append(*((name, 1) for name in names)), strict=True):
            if isinstance(answer, Signed):
                assert answer.event.created_at > last.get(name.lower(), 0)
                assert answer.event.created_at <= bench.now + 60
                last[name.lower()] = answer.event.created_at
    kept = dict(rows(bench.path, "SELECT d, max(created_at) FROM event GROUP BY d"))
    assert kept == last
    pending = rows(
        bench.path,
        """SELECT d, count(DISTINCT seq) FROM event JOIN delivery ON seq = event_seq
           WHERE state = 'pending' GROUP BY d""",
    )
    assert dict(pending) == dict.fromkeys(last, 1), "one score of each address is on its way"
    bench.database.close()
