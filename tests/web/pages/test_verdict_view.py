"""A verdict as the page tells it."""

from __future__ import annotations

import pytest

from app.verifier import Check, Verdict
from app.web.pages.verdict_view import BLANK, view

# Of kind, pubkey, app, signature, content: p for passed, f for failed, o for not reached.
STATES = [
    (Check.KIND, "foooo"),
    (Check.PUBKEY, "pfooo"),
    (Check.APP, "ppfoo"),
    (Check.SIGNATURE, "pppfo"),
    (Check.CONTENT, "ppppf"),
    (Check.UNPARSABLE, "ooooo"),
]


@pytest.mark.parametrize(("failed", "states"), STATES)
def test_the_first_that_fails_decides(failed: Check, states: str) -> None:
    shown = view(Verdict(failed, consistent=False, reasons=("because",)))
    assert "".join(check.state[0] for check in shown.checks) == states
    assert [check.name for check in shown.checks] == ["kind", "pubkey", "app", "signature", "content"]
    assert (shown.state, shown.reasons) == ("fail", ("because",))


def test_a_good_one_and_one_that_no_board_shows() -> None:
    good, odd = view(Verdict(None, consistent=True)), view(Verdict(None, consistent=False, reasons=("odd",)))
    assert (good.state, odd.state) == ("pass", "fail")
    assert {check.word for shown in (good, odd) for check in shown.checks} == {"passed"}
    assert odd.reasons == ("odd",)


def test_the_blank_form_says_nothing() -> None:
    assert (BLANK.state, BLANK.sum, BLANK.reasons) == ("blank", "", ())
    assert {(check.state, check.word) for check in BLANK.checks} == {("blank", "")}
