"""What a relay proves to hold, in the conversation with it."""

import json
from typing import Any

import pytest
from nostr_sdk import Keys

from app.delivery.question import VERIFIED_LIMIT
from app.delivery.session import Reply, Session
from tests.delivery.conversation import ONE, RELAY, ok, tell
from tests.relays.events import signed_delivery, signed_event

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
