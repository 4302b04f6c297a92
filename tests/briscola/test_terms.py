import json

import pytest

from app.briscola.errors import InvalidTerms
from app.briscola.terms import Terms
from tests.vectors import load

OPTIONS = load("briscola_four.json")["target_score_option"]


@pytest.mark.parametrize("variant", ["two-player", "partnership"])
@pytest.mark.parametrize("case", OPTIONS, ids=[str(case["target_score"]) for case in OPTIONS])
def test_target_score_option(variant, case):
    """61.0 (`either`) is refused: an option is a whole number or an error, never a guess."""
    value = case["target_score"]
    if value == "(absent)":
        assert (Terms(variant).target_score, Terms(variant).first_dealer) == (61, 0)
    elif case["accepted"] is True:
        assert Terms(variant, value).target_score == value
    else:
        with pytest.raises(InvalidTerms, match="whole number from 61 to 120"):
            Terms(variant, value)


def test_a_chiamata_takes_no_target_score():
    assert Terms("chiamata").seats == 5
    with pytest.raises(InvalidTerms, match="its auction settles the target"):
        Terms("chiamata", 62)


@pytest.mark.parametrize(
    ("terms", "message"),
    [
        ({"variant": "scopone"}, "no variant 'scopone': there are two-player, partnership, chiamata"),
        ({"variant": ["two-player"]}, "no variant"),
        ({"variant": "two-player", "first_dealer": 2}, "first_dealer is 2: a seat is 0 to 1"),
        ({"variant": "chiamata", "first_dealer": -1}, "a seat is 0 to 4"),
        ({"variant": "chiamata", "first_dealer": True}, "first_dealer is True"),
        ({"variant": "two-player", "turn_timeout": 0}, "turn_timeout is 0: it must be a positive number"),
        ({"variant": "two-player", "turn_timeout": float("nan")}, "turn_timeout is nan"),
        ({"variant": "two-player", "turn_timeout": 10**400}, "turn_timeout is 1000"),
        ({"variant": "two-player", "hand_ack_timeout": "30"}, "hand_ack_timeout is '30'"),
        ({"variant": "two-player", "hand_ack_timeout": True}, "hand_ack_timeout is True"),
        ({"variant": "two-player", "hand_ack_timeout": float("inf")}, "hand_ack_timeout is inf"),
    ],
)
def test_what_cannot_be_played_on(terms, message):
    with pytest.raises(InvalidTerms, match=message):
        Terms(**terms)


def test_json_round_trip_and_refusals():
    terms = Terms("partnership", 100, 3, turn_timeout=30, hand_ack_timeout=7.5)
    saved = terms.to_json()
    assert saved == {
        "variant": "partnership",
        "target_score": 100,
        "first_dealer": 3,
        "turn_timeout": 30,
        "hand_ack_timeout": 7.5,
    }
    assert Terms.from_json(json.loads(json.dumps(saved))) == terms
    short = {name: value for name, value in saved.items() if name != "first_dealer"}
    for value in (None, [], short, saved | {"more": 1}, saved | {"target_score": 60}):
        with pytest.raises(InvalidTerms):
            Terms.from_json(value)


def test_the_bounds_of_a_timeout():
    assert Terms("two-player", turn_timeout=0.01, hand_ack_timeout=10**12).turn_timeout == 0.01
    with pytest.raises(InvalidTerms, match="turn_timeout"):
        Terms("two-player", turn_timeout=10**12 + 1)
