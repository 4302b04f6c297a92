"""Every refusal of the ledger is a problem of its own status, and says what to do."""

from __future__ import annotations

import pytest

from app.store.refusals import (
    ClockBehind,
    KeyReused,
    KeyRevoked,
    MatchesAbandoned,
    MatchUnfinished,
    NameBanned,
    NameTaken,
    NothingToDelete,
    NotOwner,
    Refused,
    TooFast,
)
from app.web.problem_kinds import KINDS
from app.web.refusals import problem_of

REFUSALS: list[tuple[Refused, int, str, list[str]]] = [
    (KeyRevoked(), 401, "revoked", ["WWW-Authenticate"]),
    (ClockBehind(90), 503, "90 s behind", ["Retry-After"]),
    (TooFast(3), 429, "post again in 3 s", ["Retry-After"]),
    (NameTaken("alice"), 403, "'alice' belongs to another player", []),
    (NameBanned("alice"), 403, "'alice' is banned", []),
    (MatchUnfinished("m1"), 409, "match m1 of this name", []),
    (MatchesAbandoned(60), 429, "open another in 60 s", ["Retry-After"]),
    (KeyReused(), 422, "make a new key for a new score", []),
    (NotOwner("alice"), 403, "'alice' is not yours", []),
    (NothingToDelete(None), 404, "No score was published", []),
    (NothingToDelete(1_700_000_000), 404, "deleted already", []),
]


@pytest.mark.parametrize(("refusal", "status", "said", "headers"), REFUSALS)
def test_a_refusal_is_a_problem(refusal: Refused, status: int, said: str, headers: list[str]) -> None:
    problem = problem_of(refusal)
    assert KINDS[problem.slug].status == status
    assert said in problem.detail
    assert problem.detail[0].isupper()
    assert problem.detail[-1] == "."
    assert list(problem.headers) == headers


def test_no_refusal_is_left_out() -> None:
    assert {type(refusal) for refusal, *_ in REFUSALS} == set(Refused.__subclasses__())


def test_when_to_come_again_and_when_it_was_deleted() -> None:
    assert problem_of(TooFast(3)).headers["Retry-After"] == "3"
    assert problem_of(MatchesAbandoned(60)).headers["Retry-After"] == "60"
    assert problem_of(ClockBehind(90)).headers["Retry-After"] == "90"
    assert problem_of(NothingToDelete(1_700_000_000)).members == {"deleted_at": 1_700_000_000}
    assert problem_of(NothingToDelete(None)).members == {}
