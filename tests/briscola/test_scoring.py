"""The running score against the handed table of 593 matches."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.briscola.scoring import Score
from tests.vectors import load

TABLE = load("briscola_four.json")["scoring_table"]


def test_the_table_is_whole():
    assert len(TABLE) == 593


@pytest.mark.parametrize("row", TABLE, ids=range(len(TABLE)))
def test_row(row):
    score = Score(row["target_score"])
    for deal in row["deals"]:
        assert score.winner is None, "the match goes on while nobody has won"
        score = score.add(tuple(deal["team_points"]))
        assert list(score.totals) == deal["scores"]
        assert (score.winner is not None) == deal["over"]
        assert score.winner == deal["winner"]


def test_a_patta_adds_nothing_even_at_the_target():
    assert Score(61, (120, 120)).add((60, 60)) == Score(61, (120, 120))


@given(st.integers(61, 120), st.lists(st.integers(0, 120), max_size=12))
def test_both_sides_are_scored_alike(target, rows):
    straight, mirrored = Score(target), Score(target)
    for ours in rows:
        straight, mirrored = straight.add((ours, 120 - ours)), mirrored.add((120 - ours, ours))
    assert straight.totals == mirrored.totals[::-1]
    assert straight.winner == (None if mirrored.winner is None else 1 - mirrored.winner)
    assert sum(straight.totals) == 120 * sum(ours != 60 for ours in rows)
