from app.delivery.held import LIMIT, Held
from app.delivery.model import DeliveryState, Outcome
from app.delivery.session import Session
from tests.delivery.conversation import ONE, RELAY, TWO
from tests.delivery.outbox import make_delivery


def holding(reported: list[Outcome], session: Session | None = None) -> Held:
    return Held(session or Session(RELAY, lambda relay, challenge: None), reported.append)


def test_what_is_held_counts_until_it_is_recorded() -> None:
    held = holding([])
    held.take()
    held.enqueue(ONE)
    assert held.room == LIMIT - 1
    held.queue.pop()
    assert held.room == LIMIT - 1
    held.recorded(ONE.event_id)
    assert held.room == LIMIT == 4096


def test_more_is_claimed_once_half_of_it_is_free() -> None:
    held = holding([])
    for _ in range(2048):
        held.take()
    assert held.wants_more
    held.take()
    assert not held.wants_more


def test_an_event_is_known_wherever_it_is(session: Session) -> None:
    held = holding([], session)
    assert ONE.event_id not in held
    held.enqueue(ONE)
    assert ONE.event_id in held
    session.send(held.queue.pop(), 0.0)
    assert ONE.event_id in held
    session.lost()
    assert ONE.event_id not in held
    held.answered_late(ONE.event_id)
    assert ONE.event_id in held
    held.recorded(ONE.event_id)
    assert ONE.event_id not in held


def test_what_was_answered_late_is_not_sent_again_and_counts_once() -> None:
    held = holding([])
    held.take()
    held.enqueue(ONE)
    held.answered_late(ONE.event_id)
    assert (len(held.queue), held.room) == (0, LIMIT - 1)
    held.answered_late(TWO.event_id)
    assert held.room == LIMIT - 2


def test_an_older_version_is_overtaken_and_the_rest_is_given_back() -> None:
    reported: list[Outcome] = []
    held = holding(reported)
    older, newer = make_delivery(RELAY, 1, name="a"), make_delivery(RELAY, 2, name="a", created_at=1001)
    held.enqueue(older)
    held.enqueue(newer)
    assert [(one.event_id, one.state) for one in reported] == [(older.event_id, DeliveryState.SUPERSEDED)]
    held.give_back("not sent: no time", 1_000.0)
    assert (reported[1].event_id, reported[1].state) == (newer.event_id, DeliveryState.PENDING)
    assert (reported[1].message, reported[1].due, len(held.queue)) == ("not sent: no time", 1_000.0, 0)
