"""Authentication (NIP-42) in the conversation with a relay."""

from app.delivery.session import Reply, Session
from tests.delivery.conversation import ONE, RELAY, TWO, Signer, ok, tell

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
