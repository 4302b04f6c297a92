"""A verdict as the pages tell it: the five checks in their order, and what they said."""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.scores.score_event import APP_TAG, KIND
from app.verifier import Check

if TYPE_CHECKING:
    from app.verifier import Verdict

_CHECKS = {
    Check.KIND: ("Kind", f"The event is of kind {KIND}."),
    Check.PUBKEY: ("Key", "Its public key is the app's."),
    Check.APP: ("App tag", f"It carries the app tag {APP_TAG}."),
    Check.SIGNATURE: (
        "Signature",
        # A cell of the table is narrow: the name is not to break.
        "Id and signature hold, so nothing was changed after signing (NIP\N{NON-BREAKING HYPHEN}01).",
    ),
    Check.CONTENT: ("Content", "The content is JSON, and its v is 1."),
}
_WORDS = {"pass": "passed", "fail": "failed", "open": "not reached", "blank": ""}


@dataclass(frozen=True, slots=True)
class CheckView:
    """One check; `state` is pass, fail, open or blank, and `word` says the same."""

    name: str
    title: str
    says: str
    state: str

    @property
    def word(self) -> str:
        """The state in words."""
        return _WORDS[self.state]


@dataclass(frozen=True, slots=True)
class VerdictView:
    """What the template `checks.html` shows; `state` is pass, fail or blank."""

    state: str
    sum: str
    checks: tuple[CheckView, ...]
    reasons: tuple[str, ...] = ()


def _checks(failed_at: int) -> tuple[CheckView, ...]:
    """The checks, of which those before `failed_at` have passed."""
    return tuple(
        CheckView(check, *told, "pass" if place < failed_at else "fail" if place == failed_at else "open")
        for place, (check, told) in enumerate(_CHECKS.items())
    )


BLANK = VerdictView("blank", "", tuple(replace(check, state="blank") for check in _checks(-1)))
"""No verdict yet: what the checks are, and the form that the pages' scripts fill in."""


def view(verdict: Verdict) -> VerdictView:
    """A verdict for the template."""
    order = list(_CHECKS)
    if verdict.failed is Check.UNPARSABLE:
        return VerdictView("fail", "This is no event.", _checks(-1), verdict.reasons)
    if verdict.failed is not None:
        checks = _checks(order.index(verdict.failed))
        return VerdictView("fail", "This is no score of this app.", checks, verdict.reasons)
    if not verdict.consistent:
        told = "All five checks pass, but the event disagrees with itself: no board shows it."
        return VerdictView("fail", told, _checks(len(order)), verdict.reasons)
    return VerdictView("pass", "All five checks pass.", _checks(len(order)))
