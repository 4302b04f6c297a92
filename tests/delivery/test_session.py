import json
from typing import Any

import pytest
from nostr_sdk import Keys

from app.delivery.model import Delivery
from app.delivery.question import VERIFIED_LIMIT
from app.delivery.session import FRAME_LIMIT, LATE_LIMIT, Reply, Session
from tests.delivery.outbox import make_delivery
from tests.relays.events import signed_delivery, signed_event

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


def test_a_challenge_that_is_repeated_while_it_is_answered_is_answered_once(
    session: Session, signer: Signer
) -> None:
    for delivery in (ONE, TWO):
        session.send(delivery, 0.0)
    for delivery in (ONE, TWO):
        tell(session, "AUTH", "c1")
        ok(session, delivery, *AUTH_REQUIRED)
    assert signer.asked == [(RELAY, "c1")]
    session.outgoing.clear()
    tell(session, "OK", "auth-c1", True, "")
    assert session.outgoing == [f'["EVENT",{delivery.payload}]' for delivery in (ONE, TWO)]


def test_challenges_without_end_are_not_all_answered(session: Session, signer: Signer) -> None:
    session.send(ONE, 0.0)
    ok(session, ONE, *AUTH_REQUIRED)
    replies = [reply for n in range(50) for reply in tell(session, "AUTH", f"c{n}", now=float(n))]
    assert [challenge for _, challenge in signer.asked] == [f"c{n}" for n in range(10)]
    assert replies == [Reply(ONE, False, "error: asked to authenticate more than 10 times a minute", False)]
    # The first of the ten was a minute ago; what is answered then is the newest.
    session.lost()
    tell(session, "AUTH", "new", now=59.9)
    session.send(ONE, 59.9)
    assert len(tell(session, "OK", ONE.event_id, *AUTH_REQUIRED, now=59.9)) == 1
    session.send(ONE, 60.0)
    assert tell(session, "OK", ONE.event_id, *AUTH_REQUIRED, now=60.0) == []
    assert signer.asked[10:] == [(RELAY, "new")]
    session.outgoing.clear()
    tell(session, "OK", "auth-new", True, "")
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
    session.expire(10.0, [])
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
    assert session.expire(10.0, []) == [ONE]
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


KEYS = Keys.generate()
TRIED = signed_delivery(KEYS, RELAY, "a:b", created_at=1_000)._replace(attempts=3)
AUTHOR = KEYS.public_key().to_hex()


def event(name: str = "a:b", created_at: int = 1_001, keys: Keys = KEYS, score: int = 72) -> dict[str, Any]:
    """An event that nostr-sdk has signed."""
    found: dict[str, Any] = json.loads(signed_event(keys, name, score, created_at))
    return found


def asked(session: Session) -> None:
    """Let the session ask about an event that it sent three times."""
    assert json.loads(session.send(TRIED, 0.0))[0] == "REQ"


def test_after_three_attempts_the_relay_is_asked_first(session: Session) -> None:
    assert json.loads(session.send(TRIED, 0.0)) == [
        "REQ",
        TRIED.event_id,
        {"ids": [TRIED.event_id], "limit": 1},
        {"kinds": [31250], "authors": [AUTHOR], "#d": ["a:b"], "limit": 1},
    ]
    assert tell(session, "EOSE", TRIED.event_id) == []
    assert session.outgoing == [f'["CLOSE","{TRIED.event_id}"]', f'["EVENT",{TRIED.payload}]']
    assert ok(session, TRIED) == [Reply(TRIED, True, "", late=False)]


def test_an_event_the_relay_holds_is_delivered(session: Session) -> None:
    asked(session)
    replies = tell(session, "EVENT", TRIED.event_id, json.loads(TRIED.payload))
    assert replies == [Reply(TRIED, True, "read back: the relay holds it", late=False)]
    assert session.outgoing == [f'["CLOSE","{TRIED.event_id}"]']


def test_a_newer_event_at_the_address_is_a_reason_not_to_send(session: Session) -> None:
    asked(session)
    newer, newest = event(created_at=1_001), event(created_at=1_002)
    for one in (newer, newest, newer):
        assert tell(session, "EVENT", TRIED.event_id, one) == []
    [reply] = tell(session, "EOSE", TRIED.event_id)
    assert (reply.accepted, reply.message) == (False, "replaced: the relay holds a newer event")
    assert reply.asked
    assert reply.newest is not None
    assert reply.newest.id == newest["id"]
    assert session.in_flight == 0


def test_of_one_second_the_lower_id_wins_and_the_higher_does_not(session: Session) -> None:
    rivals = [event(created_at=1_000, score=score) for score in range(20)]
    for rival in rivals:
        session.send(TRIED, 0.0)
        tell(session, "EVENT", TRIED.event_id, rival)
        wins = len(tell(session, "EOSE", TRIED.event_id)) == 1
        assert wins is (rival["id"] < TRIED.event_id)
        session.lost()


FORGED = event() | {"sig": event(created_at=1_003)["sig"]}


@pytest.mark.parametrize(
    "found",
    [
        json.loads(TRIED.payload) | {"sig": FORGED["sig"]},
        json.loads(TRIED.payload) | {"content": "{}"},
        {"id": TRIED.event_id},
        FORGED,
        event(created_at=999),
        event("other"),
        event(keys=Keys.generate()),
        event() | {"kind": 1},
        event() | {"created_at": "1001"},
        event() | {"tags": [["d"], "d", {}]},
        event() | {"pubkey": ["00"]},
        {},
    ],
    ids=[
        *(
            "own id, wrong signature",
            "own id, other content",
            "own id alone",
            "forged",
            "older",
            "other name",
        ),
        *("other key", "other kind", "no time", "no tags", "no key", "nothing"),
    ],
)
def test_what_proves_nothing_counts_for_nothing(session: Session, found: dict[str, Any]) -> None:
    asked(session)
    assert tell(session, "EVENT", TRIED.event_id, found) == []
    assert tell(session, "EOSE", TRIED.event_id) == []
    assert session.outgoing[-1] == f'["EVENT",{TRIED.payload}]'
    assert session.ignored == 1


def test_an_answer_nested_as_deep_as_json_goes_is_ignored(session: Session) -> None:
    asked(session)
    deep = json.dumps(event("DEEP") | {"pubkey": AUTHOR}).replace('"DEEP"', "[" * 1015 + "]" * 1015)
    assert session.receive([f'["EVENT","{TRIED.event_id}",{deep}]'], 0.0) == []
    assert session.ignored == 1


def test_a_flood_of_events_is_not_looked_at_for_long(session: Session) -> None:
    asked(session)
    for _ in range(VERIFIED_LIMIT):
        tell(session, "EVENT", TRIED.event_id, FORGED)
    assert tell(session, "EVENT", TRIED.event_id, json.loads(TRIED.payload)) == []
    assert session.ignored == VERIFIED_LIMIT + 1


def test_a_relay_that_refuses_the_question_gets_the_event(session: Session) -> None:
    asked(session)
    tell(session, "CLOSED", TRIED.event_id, "restricted: no reading")
    assert session.outgoing[-1] == f'["EVENT",{TRIED.payload}]'


def test_a_relay_that_does_not_answer_the_question_gets_the_event(session: Session) -> None:
    asked(session)
    assert session.expire(9.9, []) == []
    assert session.outgoing == []
    assert session.expire(10.0, []) == []
    assert session.outgoing == [f'["CLOSE","{TRIED.event_id}"]', f'["EVENT",{TRIED.payload}]']
    assert session.expire(19.9, []) == []
    assert session.expire(20.0, []) == [TRIED]


def test_the_end_of_a_question_that_was_not_asked_means_nothing(session: Session) -> None:
    session.send(ONE, 0.0)
    assert tell(session, "EOSE", ONE.event_id) == []
    assert (session.ignored, session.outgoing) == (1, [])


def test_a_deletion_is_asked_for_by_its_id_alone(session: Session) -> None:
    deletion = TRIED._replace(address=TRIED.event_id)
    assert json.loads(session.send(deletion, 0.0)) == [
        "REQ",
        TRIED.event_id,
        {"ids": [TRIED.event_id], "limit": 1},
    ]
    assert tell(session, "EVENT", TRIED.event_id, event(created_at=2_000)) == []
    assert tell(session, "EVENT", TRIED.event_id, json.loads(TRIED.payload))[0].accepted


# After a refusal: what took the event's place?

REFUSAL = "replaced: have newer event"


def refused(session: Session) -> None:
    """Let the session ask about an event that the relay called replaced."""
    assert json.loads(session.ask(TRIED, REFUSAL, 0.0))[:2] == ["REQ", TRIED.event_id]


def test_a_refusal_is_explained_by_what_the_relay_holds(session: Session) -> None:
    refused(session)
    tell(session, "EVENT", TRIED.event_id, newer := event())
    [reply] = tell(session, "EOSE", TRIED.event_id)
    assert (reply.accepted, reply.message, reply.asked) == (False, REFUSAL, True)
    assert reply.newest is not None
    assert reply.newest.to_dict() == newer


def test_a_refusal_may_stay_unexplained(session: Session) -> None:
    refused(session)
    assert ok(session, TRIED, False, REFUSAL) == []  # a relay that goes on saying so is not asked again
    replies: list[Reply] = []
    assert session.expire(10.0, replies) == []
    assert replies == [Reply(TRIED, False, REFUSAL, late=False, asked=True, newest=None)]
    assert session.in_flight == 0


def test_a_relay_that_called_it_replaced_and_holds_it_has_it(session: Session) -> None:
    refused(session)
    [reply] = tell(session, "EVENT", TRIED.event_id, json.loads(TRIED.payload))
    assert reply.accepted
