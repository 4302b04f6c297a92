"""What is reported, counted and slowed down for each answer."""

from __future__ import annotations

import pytest

from app.delivery.model import DeliveryState, Outcome
from app.delivery.pace import FIRST_WINDOW, Pace
from app.delivery.session import Reply
from app.delivery.status import Tally
from app.delivery.verdicts import Verdicts
from tests.delivery.outbox import make_delivery

RELAY = "wss://relay.example"
NOW, MONOTONIC = 5_000.0, 7.0
DELIVERY = make_delivery(RELAY)


class Desk:
    """Verdicts, and all that they touch."""

    def __init__(self) -> None:
        self.tally, self.pace = Tally(), Pace(lambda: 1.0)
        self.reported: list[Outcome] = []
        self.conflicts: list[Reply] = []
        self.verdicts = Verdicts(
            RELAY,
            self.tally,
            self.pace,
            report=self.reported.append,
            conflict=self.conflicts.append,
            clock=lambda: NOW,
            monotonic=lambda: MONOTONIC,
            random=lambda: 1.0,
        )

    def answer(self, message: str, *, accepted: bool = False, late: bool = False) -> bool:
        return self.verdicts.answered(Reply(DELIVERY, accepted, message, late))


@pytest.mark.parametrize("late", [False, True])
@pytest.mark.parametrize(
    ("accepted", "message", "state", "counted", "window"),
    [
        (True, "", DeliveryState.ACCEPTED, Tally(accepted=1), FIRST_WINDOW + 1),
        (False, "duplicate: have it", DeliveryState.ACCEPTED, Tally(accepted=1), FIRST_WINDOW + 1),
        (False, "blocked: no", DeliveryState.REJECTED, Tally(rejected=1), FIRST_WINDOW),
    ],
)
def test_a_verdict_is_reported_and_counted_however_late(
    late: bool, accepted: bool, message: str, state: DeliveryState, counted: Tally, window: int
) -> None:
    desk = Desk()
    assert desk.answer(message, accepted=accepted, late=late)
    assert [(outcome.state, outcome.message) for outcome in desk.reported] == [(state, message)]
    assert (desk.tally, desk.pace.window) == (counted, window)


@pytest.mark.parametrize("late", [False, True])
def test_what_is_called_replaced_is_reported_by_whoever_looks_into_it(late: bool) -> None:
    desk = Desk()
    assert desk.answer("replaced: newer", late=late)
    assert (desk.reported, desk.tally) == ([], Tally())
    assert [reply.message for reply in desk.conflicts] == ["replaced: newer"]


@pytest.mark.parametrize(("message", "pause"), [("error: busy", 0.0), ("rate-limited: slow down", 1.0)])
def test_a_wait_in_vain_halves_the_window_and_rate_limited_stops_it(message: str, pause: float) -> None:
    desk = Desk()
    assert desk.answer(message)
    assert [(outcome.state, outcome.due) for outcome in desk.reported] == [(DeliveryState.PENDING, NOW + 1)]
    assert (desk.tally, desk.pace.window) == (Tally(retried=1), FIRST_WINDOW // 2)
    assert desk.pace.pause(MONOTONIC) == pause


def test_a_late_word_that_settles_nothing_changes_nothing() -> None:
    desk = Desk()
    assert not desk.answer("rate-limited: slow down", late=True)
    assert (desk.reported, desk.tally, desk.pace.pause(MONOTONIC)) == ([], Tally(), 0.0)


def test_silence_is_an_attempt() -> None:
    desk = Desk()
    desk.verdicts.unanswered(DELIVERY, "no answer")
    [outcome] = desk.reported
    assert (outcome.state, outcome.attempts, outcome.due) == (DeliveryState.PENDING, 1, NOW + 1)
    assert desk.tally == Tally(retried=1)
