import json

import pytest

from app.delivery.session import FRAME_LIMIT, LATE_LIMIT, Reply, Session
from tests.delivery.conversation import ONE, RELAY, TWO, ok, tell
from tests.delivery.outbox import make_delivery


def test_answers_are_matched_by_id_in_any_order(session: Session) -> None:
    assert session.send(ONE, 0.0) == f'["EVENT",{ONE.payload}]'
    session.send(TWO, 0.0)
    assert session.in_flight == 2
    assert ok(session, TWO, False, "blocked: no") == [Reply(TWO, False, "blocked: no", late=False)]
    assert ok(session, ONE) == [Reply(ONE, True, "", late=False)]
    assert session.in_flight == 0


@pytest.mark.parametrize(
    "frame",
    [
        json.dumps(["OK", "00" * 32, True, ""]),
        json.dumps(["OK", "", False, "invalid: too long"]),
        json.dumps(["OK", ONE.event_id, "true", ""]),
        json.dumps(["OK", ONE.event_id, True]),
        json.dumps(["OK", ONE.event_id.upper(), True, ""]),
        json.dumps(["EOSE", "unknown"]),
        json.dumps(["EVENT", "unknown", {}]),
        json.dumps(["OK", ONE.event_id, True, "x" * FRAME_LIMIT]),
        "[]",
        "{",
        "null",
        "",
        "[" * 100_000,
    ],
)
def test_what_means_nothing_is_counted_and_changes_nothing(session: Session, frame: str) -> None:
    session.send(ONE, 0.0)
    assert session.receive([frame], 0.0) == []
    assert (session.in_flight, session.ignored, session.outgoing) == (1, 1, [])


def test_a_second_ok_is_ignored(session: Session) -> None:
    session.send(ONE, 0.0)
    assert len(ok(session, ONE)) == 1
    assert ok(session, ONE, False, "error: changed my mind") == []
    assert session.ignored == 1


def test_a_notice_is_kept_and_is_no_verdict(session: Session) -> None:
    session.send(ONE, 0.0)
    assert tell(session, "NOTICE", "invalid:\nmessage too large") == []
    assert session.notice == "invalid: message too large"
    assert session.in_flight == 1


def test_the_deadline_is_ten_seconds_after_sending(session: Session) -> None:
    session.send(ONE, 100.0)
    session.send(TWO, 105.0)
    assert session.next_deadline == 110.0
    assert session.expire(109.9, []) == []
    assert session.expire(110.0, []) == [ONE]
    assert session.next_deadline == 115.0


def test_a_late_ok_counts_and_is_marked(session: Session) -> None:
    session.send(ONE, 0.0)
    session.expire(10.0, [])
    assert ok(session, ONE) == [Reply(ONE, True, "", late=True)]
    assert ok(session, ONE) == []


def test_an_ok_on_the_next_connection_counts(session: Session) -> None:
    session.send(ONE, 0.0)
    assert session.lost() == [ONE]
    assert session.in_flight == 0
    assert ok(session, ONE) == [Reply(ONE, True, "", late=True)]


def test_what_is_remembered_for_late_answers_is_bounded(session: Session) -> None:
    many = [make_delivery(RELAY, number) for number in range(LATE_LIMIT + 1)]
    for delivery in many:
        session.send(delivery, 0.0)
    session.expire(10.0, [])
    assert ok(session, many[0]) == []
    assert ok(session, many[1]) == [Reply(many[1], True, "", late=True)]
