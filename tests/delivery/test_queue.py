import pytest

from app.delivery.queue import Queue
from tests.delivery.outbox import make_delivery

RELAY = "ws://relay"


def test_first_in_first_out() -> None:
    queue = Queue()
    deliveries = [make_delivery(RELAY, number) for number in range(3)]
    assert [queue.push(delivery) for delivery in deliveries] == [None, None, None]
    assert len(queue) == 3
    assert deliveries[1].event_id in queue
    assert [queue.pop() for _ in range(3)] == deliveries
    with pytest.raises(KeyError):
        queue.pop()


def test_only_the_newest_of_an_address_stays_whatever_the_order() -> None:
    older = make_delivery(RELAY, name="alice", created_at=1)
    newer = make_delivery(RELAY, name="alice", created_at=2)
    queue = Queue()
    assert queue.push(older) is None
    assert queue.push(newer) is older
    assert queue.push(older) is older
    assert list(queue.drain()) == [newer]


def test_what_was_taken_out_is_no_rival() -> None:
    older = make_delivery(RELAY, name="alice", created_at=1)
    newer = make_delivery(RELAY, name="alice", created_at=2)
    queue = Queue()
    queue.push(newer)
    assert queue.discard(newer.event_id)
    assert not queue.discard(newer.event_id)
    assert queue.push(older) is None
    assert queue.pop() is older
    assert queue.push(older) is None
