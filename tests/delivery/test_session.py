import json
from typing import Any

import pytest

from app.delivery.model import Delivery
from app.delivery.session import FRAME_LIMIT, LATE_LIMIT, Reply, Session
from tests.delivery.outbox import PUBKEY, make_delivery

RELAY = "ws://relay"
ONE, TWO = make_delivery(RELAY, 1), make_delivery(RELAY, 2)


class Signer:
    """Signs nothing, but says what it was asked to sign."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, str]] = []

    def __call__(self, relay: str, challenge: str) -> str:
        self.asked.append((relay, challenge))
        return json.dumps({"id": f"auth-{challenge}", "kind": 22242})


@pytest.fixture
def signer() -> Signer:
    return Signer()


@pytest.fixture
def session(signer: Signer) -> Session:
    return Session(RELAY, signer)


def tell(session: Session, *parts: Any, now: float = 0.0) -> list[Reply]:
    return session.receive([json.dumps(parts)], now)


def ok(session: Session, delivery: Delivery, accepted: bool = True, message: str = "") -> list[Reply]:
    return tell(session, "OK", delivery.event_id, accepted, message)


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
    assert session.expire(109.9) == []
    assert session.expire(110.0) == [ONE]
    assert session.next_deadline == 115.0


def test_a_late_ok_counts_and_is_marked(session: Session) -> None:
    session.send(ONE, 0.0)
    session.expire(10.0)
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
    session.expire(10.0)
    assert ok(session, many[0]) == []
    assert ok(session, many[1]) == [Reply(many[1], True, "", late=True)]


AUTH_REQUIRED = (False, "auth-required: we only take events from members")


def test_authentication_then_the_same_event_once_more(session: Session, signer: Signer) -> None:
    tell(session, "AUTH", "c1")
    assert signer.asked == []  # nobody is told who we are unless they insist
    session.send(ONE, 0.0)
    assert ok(session, ONE, *AUTH_REQUIRED) == []
    assert signer.asked == [(RELAY, "c1")]
    assert session.outgoing == ['["AUTH",{"id": "auth-c1", "kind": 22242}]']
    session.outgoing.clear()
    assert tell(session, "OK", "auth-c1", True, "") == []
    assert session.outgoing == [f'["EVENT",{ONE.payload}]']
    assert ok(session, ONE) == [Reply(ONE, True, "", late=False)]


def test_a_challenge_that_comes_after_the_refusal(session: Session, signer: Signer) -> None:
    session.send(ONE, 0.0)
    ok(session, ONE, *AUTH_REQUIRED)
    assert session.outgoing == []
    tell(session, "AUTH", "c1")
    assert signer.asked == [(RELAY, "c1")]


def test_the_newest_challenge_wins(session: Session, signer: Signer) -> None:
    tell(session, "AUTH", "c1")
    tell(session, "AUTH", "c2")
    session.send(ONE, 0.0)
    ok(session, ONE, *AUTH_REQUIRED)
    tell(session, "AUTH", "c3")
    assert signer.asked == [(RELAY, "c2"), (RELAY, "c3")]
    session.outgoing.clear()
    tell(session, "OK", "auth-c2", True, "")  # the answer to a challenge that is over
    assert session.outgoing == []
    tell(session, "OK", "auth-c3", True, "")
    assert session.outgoing == [f'["EVENT",{ONE.payload}]']


def test_refused_again_after_a_good_authentication_is_final(session: Session) -> None:
    tell(session, "AUTH", "c1")
    session.send(ONE, 0.0)
    ok(session, ONE, *AUTH_REQUIRED)
    tell(session, "OK", "auth-c1", True, "")
    assert ok(session, ONE, *AUTH_REQUIRED) == [Reply(ONE, *AUTH_REQUIRED, late=False)]
    session.send(TWO, 0.0)
    assert ok(session, TWO, *AUTH_REQUIRED) == [Reply(TWO, *AUTH_REQUIRED, late=False)]


def test_events_already_on_their_way_are_sent_once_more_too(session: Session, signer: Signer) -> None:
    tell(session, "AUTH", "c1")
    session.send(ONE, 0.0)
    session.send(TWO, 0.0)
    ok(session, ONE, *AUTH_REQUIRED)
    tell(session, "OK", "auth-c1", True, "")
    session.outgoing.clear()
    assert ok(session, TWO, *AUTH_REQUIRED) == []
    assert session.outgoing == [f'["EVENT",{TWO.payload}]']
    assert len(signer.asked) == 1


def test_a_refused_authentication_is_final(session: Session) -> None:
    tell(session, "AUTH", "c1")
    session.send(ONE, 0.0)
    ok(session, ONE, *AUTH_REQUIRED)
    [reply] = tell(session, "OK", "auth-c1", False, "restricted: not a member")
    assert (reply.delivery, reply.accepted) == (ONE, False)
    assert reply.message == "auth-required: authentication refused: restricted: not a member"


def test_a_refused_authentication_is_not_tried_again_before_the_next_challenge(
    session: Session, signer: Signer
) -> None:
    tell(session, "AUTH", "c1")
    session.send(ONE, 0.0)
    ok(session, ONE, *AUTH_REQUIRED)
    tell(session, "OK", "auth-c1", False, "restricted: not a member")
    session.send(TWO, 0.0)
    [reply] = ok(session, TWO, *AUTH_REQUIRED)
    assert reply.message == "auth-required: authentication refused: restricted: not a member"
    tell(session, "AUTH", "c2")
    session.send(TWO, 0.0)
    assert ok(session, TWO, *AUTH_REQUIRED) == []
    assert len(signer.asked) == 2


def test_an_authentication_that_failed_for_now_is_tried_again(session: Session, signer: Signer) -> None:
    tell(session, "AUTH", "c1")
    session.send(ONE, 0.0)
    ok(session, ONE, *AUTH_REQUIRED)
    assert tell(session, "OK", "auth-c1", False, "error: busy") == [Reply(ONE, False, "error: busy", False)]
    session.send(ONE, 1.0)
    ok(session, ONE, *AUTH_REQUIRED)
    assert len(signer.asked) == 2


def test_a_late_demand_for_authentication_is_no_verdict(session: Session) -> None:
    session.send(ONE, 0.0)
    session.expire(10.0)
    assert ok(session, ONE, *AUTH_REQUIRED) == []
    assert ok(session, ONE) == [Reply(ONE, True, "", late=True)]


def test_without_a_key_authentication_is_refused_by_us() -> None:
    session = Session(RELAY, lambda relay, challenge: None)
    tell(session, "AUTH", "c1")
    session.send(ONE, 0.0)
    [reply] = ok(session, ONE, *AUTH_REQUIRED)
    assert reply.message == "auth-required: no key to authenticate with"


def test_an_authentication_without_an_answer_is_tried_again(session: Session, signer: Signer) -> None:
    tell(session, "AUTH", "c1")
    session.send(ONE, 0.0)
    ok(session, ONE, *AUTH_REQUIRED)
    assert session.expire(10.0) == [ONE]
    session.send(ONE, 11.0)
    ok(session, ONE, *AUTH_REQUIRED)
    assert len(signer.asked) == 2


def test_a_new_connection_starts_unauthenticated(session: Session) -> None:
    tell(session, "AUTH", "c1")
    session.send(ONE, 0.0)
    ok(session, ONE, *AUTH_REQUIRED)
    tell(session, "OK", "auth-c1", True, "")
    assert session.lost() == [ONE]
    session.send(ONE, 20.0)
    assert ok(session, ONE, *AUTH_REQUIRED) == []
    assert session.outgoing == []  # the old challenge belonged to the old connection


TRIED = Delivery(ONE.event_id, RELAY, f"31250:{PUBKEY}:a:b", 1_000, ONE.payload, attempts=3)


def held(event_id: str, created_at: int, d: str = "a:b") -> dict[str, Any]:
    return {
        "id": event_id,
        "pubkey": PUBKEY,
        "kind": 31250,
        "created_at": created_at,
        "tags": [["d", d], ["app", "briscola-score"]],
    }


def test_after_three_attempts_the_relay_is_asked_first(session: Session) -> None:
    assert json.loads(session.send(TRIED, 0.0)) == [
        "REQ",
        TRIED.event_id,
        {"ids": [TRIED.event_id], "limit": 1},
        {"kinds": [31250], "authors": [PUBKEY], "#d": ["a:b"], "limit": 1},
    ]
    assert tell(session, "EOSE", TRIED.event_id) == []
    assert session.outgoing == [f'["CLOSE","{TRIED.event_id}"]', f'["EVENT",{TRIED.payload}]']
    assert ok(session, TRIED) == [Reply(TRIED, True, "", late=False)]


def test_an_event_the_relay_holds_is_delivered(session: Session) -> None:
    session.send(TRIED, 0.0)
    replies = tell(session, "EVENT", TRIED.event_id, held(TRIED.event_id, 1_000))
    assert replies == [Reply(TRIED, True, "held by the relay", late=False)]


def test_a_newer_event_at_the_address_is_a_reason_not_to_send(session: Session) -> None:
    session.send(TRIED, 0.0)
    assert tell(session, "EVENT", TRIED.event_id, held("ff" * 32, 1_001)) == []
    [reply] = tell(session, "EOSE", TRIED.event_id)
    assert (reply.accepted, reply.message) == (False, "replaced: the relay holds a newer event")


@pytest.mark.parametrize(
    "event",
    [
        held("ff" * 32, 999),
        held("ff" * 32, 1_001, d="other"),
        held("ff" * 32, 1_001) | {"pubkey": "00" * 32},
        held("ff" * 32, 1_001) | {"kind": 1},
        held("ff" * 32, 1_001) | {"created_at": "1001"},
        held("ff" * 32, 1_001) | {"tags": [["d"], "d", {}]},
        held("ff" * 32, 1_001) | {"tags": [["d", ["a:b"]]]},
        {},
    ],
)
def test_anything_else_at_the_address_is_not(session: Session, event: dict[str, Any]) -> None:
    session.send(TRIED, 0.0)
    tell(session, "EVENT", TRIED.event_id, event)
    assert tell(session, "EOSE", TRIED.event_id) == []
    assert session.outgoing[-1] == f'["EVENT",{TRIED.payload}]'


def test_an_answer_nested_as_deep_as_json_goes_is_ignored(session: Session) -> None:
    session.send(TRIED, 0.0)
    event = json.dumps(held("ff" * 32, 1_001, d="DEEP")).replace('"DEEP"', "[" * 1015 + "]" * 1015)
    assert session.receive([f'["EVENT","{TRIED.event_id}",{event}]'], 0.0) == []
    assert session.ignored == 1


def test_a_relay_that_refuses_the_question_gets_the_event(session: Session) -> None:
    session.send(TRIED, 0.0)
    tell(session, "CLOSED", TRIED.event_id, "restricted: no reading")
    assert session.outgoing == [f'["EVENT",{TRIED.payload}]']


def test_a_question_without_an_answer_expires(session: Session) -> None:
    session.send(TRIED, 0.0)
    assert session.expire(10.0) == [TRIED]
