from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.scores.score import Claim, InvalidScore, check_score
from app.scores.username import InvalidUsername


@given(st.integers())
def test_a_match_ends_with_0_to_120(score: int) -> None:
    if 0 <= score <= 120:
        assert check_score(score) == score
    else:
        with pytest.raises(InvalidScore, match="0 to 120"):
            check_score(score)


@pytest.mark.parametrize("score", [True, False, 72.0, "72", None, [72], float("nan")])
def test_only_whole_numbers_are_scores(score: object) -> None:
    with pytest.raises(InvalidScore, match="no whole number"):
        check_score(score)  # type: ignore[arg-type]


def test_a_claim_is_checked_as_it_is_made() -> None:
    assert Claim("alice", 72) == Claim("alice", 72)
    with pytest.raises(InvalidUsername):
        Claim("a b", 72)
    with pytest.raises(InvalidScore):
        Claim("alice", 121)
