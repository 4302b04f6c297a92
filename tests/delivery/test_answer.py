import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.delivery.answer import answered, one_line, overtaken, unanswered, unsent
from app.delivery.model import Delivery, DeliveryState, Outcome
from tests.delivery.outbox import make_delivery

NOW = 2_000.0
DELIVERY = make_delivery("ws://relay", created_at=1_000)


def judge(accepted: bool, message: str, delivery: Delivery = DELIVERY) -> Outcome:
    return answered(delivery, accepted, message, now=NOW, random=lambda: 0.0)


@pytest.mark.parametrize(
    ("accepted", "message", "state"),
    [
        (True, "", "accepted"),
        (True, "error: whatever", "accepted"),
        (False, "duplicate: already have this event", "accepted"),
        (False, "replaced: have newer event", "conflict"),
        (False, "rate-limited: slow down", "pending"),
        (False, "error: could not connect to the database", "pending"),
        (False, "pow: difficulty 25>=24", "rejected"),
        (False, "blocked: you are banned", "rejected"),
        (False, "invalid: bad signature", "rejected"),
        (False, "restricted: not allowed to write", "rejected"),
        (False, "mute: no one was listening", "rejected"),
        (False, "deleted: the author asked for it", "rejected"),
        (False, "rejected: no", "rejected"),
        (False, "auth-required: again", "rejected"),
        (False, "duplicate", "rejected"),
        (False, "teapot: short and stout", "rejected"),
        (False, "", "rejected"),
    ],
)
def test_the_table_of_answers(accepted: bool, message: str, state: str) -> None:
    outcome = judge(accepted, message)
    assert (outcome.state, outcome.message, outcome.attempts) == (state, message, 1)
    assert outcome.answered
    assert (outcome.due is not None) is (state == "pending")


def test_invalid_while_created_at_is_ahead_waits_for_its_time() -> None:
    ahead = make_delivery("ws://relay", created_at=2_060)
    outcome = judge(False, "invalid: created_at is in the future", ahead)
    assert (outcome.state, outcome.due) == (DeliveryState.PENDING, 2_060)
    now = make_delivery("ws://relay", created_at=2_000)
    assert judge(False, "invalid: created_at is in the future", now).state is DeliveryState.REJECTED


def test_silence_is_pending_with_backoff() -> None:
    delivery = Delivery("00", "ws://relay", "31250:ab:alice", 1_000, "{}", attempts=3)
    outcome = unanswered(delivery, "no answer", now=NOW, random=lambda: 0.0)
    assert outcome == Outcome(
        "00", "ws://relay", DeliveryState.PENDING, "no answer", 4, NOW + 4.0, failing_since=NOW
    )


def test_giving_back_is_no_attempt() -> None:
    outcome = unsent(DELIVERY, "not sent", due=NOW)
    assert (outcome.state, outcome.attempts, outcome.due) == (DeliveryState.PENDING, 0, NOW)


def test_overtaken_is_superseded() -> None:
    assert overtaken(DELIVERY).state is DeliveryState.SUPERSEDED


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("blocked: no", "blocked: no"),
        ("two\nlines\r\n", "two lines  "),
        ("tab\there", "tab here"),
        ("\x1b[31mred", "\N{REPLACEMENT CHARACTER}[31mred"),
        ("\N{RIGHT-TO-LEFT OVERRIDE}evil", "\N{REPLACEMENT CHARACTER}evil"),
        ("zero\N{ZERO WIDTH SPACE}width", "zero\N{REPLACEMENT CHARACTER}width"),
        ("line\N{LINE SEPARATOR}end", "line end"),
        ("è così", "è così"),
        ("x" * 200, "x" * 200),
        ("x" * 100_000, "x" * 199 + "…"),
    ],
)
def test_messages_become_one_bounded_line(text: str, line: str) -> None:
    assert one_line(text) == line


@given(st.text())
def test_a_line_is_printable_and_short(text: str) -> None:
    line = one_line(text)
    assert line.isprintable()
    assert len(line) <= 200
    assert len(line.splitlines()) <= 1
