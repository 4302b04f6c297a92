"""Saved matches: what is written is read back, and nothing else is."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.briscola.action import Ack, Play
from app.briscola.cards import parse_card
from app.briscola.errors import MalformedState
from app.briscola.match import Match
from app.briscola.source import SeededSource
from app.briscola.terms import Terms
from app.briscola.variants import VARIANTS
from tests.briscola.matches import (
    CHIAMATE,
    PLAYED,
    between_deals,
    decks_of,
    random_match,
    ticked_to_the_end,
    to_the_end,
)
from tests.vectors import action_text

SEEDS = st.binary(min_size=32, max_size=32)

every_variant = pytest.mark.parametrize("variant", VARIANTS)


@every_variant
@settings(max_examples=5, deadline=None)
@given(seed=SEEDS)
def test_json_round_trip_at_every_step(variant, seed):
    for state in random_match(variant, seed):
        again = Match.from_json(json.loads(json.dumps(state.to_json())))
        assert again == state
        for seat in range(state.terms.seats):
            told = state.observation(seat).to_json()
            assert json.loads(json.dumps(told)) == told


def test_a_match_read_back_goes_on_as_if_it_had_never_stopped():
    source = SeededSource(bytes(32))
    match = Match.start(Terms("partnership", 120, turn_timeout=5, hand_ack_timeout=5), source, 0)
    whole = ticked_to_the_end(match, source)
    for _ in range(25):
        match = match.tick(source, match.deadline)
    again = Match.from_json(json.loads(json.dumps(match.to_json())))
    assert ticked_to_the_end(again, SeededSource(bytes(32))) == whole


def saved_between_deals():
    match, source = between_deals()
    return match.act(1, Ack(1), source, 105).to_json()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"more": 1}, "nothing more"),
        ({"terms": {}}, "terms: terms are an object of variant"),
        ({"deals": []}, "one deal at least"),
        ({"deals": {}}, "one deal at least"),
        ({"deals": [None]}, "deal 1: a saved state has"),
        ({"acknowledged": None}, "acknowledged a list"),
        ({"acknowledged": [0, 1]}, "are not the seats that have acknowledged"),
        ({"acknowledged": [True]}, "are not the seats"),
        ({"acknowledged": [2]}, "are not the seats"),
        ({"acknowledged": [[]]}, "are not the seats"),
        ({"deadline": None}, "there is a deadline if, and only if"),
        ({"deadline": "110"}, "the deadline is '110'"),
        ({"deadline": float("nan")}, "the deadline is nan"),
    ],
)
def test_a_match_that_cannot_be_is_not_read(change, message):
    saved = saved_between_deals()
    Match.from_json(saved)
    with pytest.raises(MalformedState, match=message):
        Match.from_json(saved | change)


def test_deals_that_cannot_follow_each_other_are_not_read():
    saved = saved_between_deals()
    deal = saved["deals"][0]
    started = deal | {"first": 0, "actions": []}
    playing = {"acknowledged": [], "deadline": 1}
    Match.from_json(saved | playing | {"deals": [deal, started]})
    with pytest.raises(MalformedState, match="deal 1: seat 0 is dealt first"):
        Match.from_json(saved | playing | {"deals": [started]})
    with pytest.raises(MalformedState, match="deal 2: seat 1 is dealt first"):
        Match.from_json(saved | playing | {"deals": [deal, started | {"first": 1}]})
    with pytest.raises(MalformedState, match="deal 3: the deal before it is not over"):
        Match.from_json(saved | playing | {"deals": [deal, started, started | {"first": 1}]})
    with pytest.raises(MalformedState, match="are not the seats"):
        Match.from_json(saved | {"deals": [deal, started]})
    won = to_the_end(Match.start(Terms("two-player"), SeededSource(bytes(32)), 0), SeededSource(bytes(32)))
    after_the_end = won.to_json()
    following = len(after_the_end["deals"]) % 2
    after_the_end["deals"].append({**started, "first": 1 - following})
    with pytest.raises(MalformedState, match="or has decided the match"):
        Match.from_json(after_the_end)


def test_a_chiamata_whose_patta_was_not_dealt_again_is_not_read():
    vector = CHIAMATE["chiamata-027"]
    match = to_the_end(Match.start(Terms("chiamata"), SeededSource(bytes(32)), 0), SeededSource(bytes(32)))
    deal = vector["deals"][0]
    actions = [
        *map(action_text, deal["auction"]),
        f"call {deal['called']}",
        *(f"play {c}" for c in deal["plays"]),
    ]
    patta = {"variant": "chiamata", "deck": deal["deck"], "first": 1, "actions": actions}
    with pytest.raises(MalformedState, match="the deal after a patta is missing"):
        Match.from_json(match.to_json() | {"deals": [patta]})


def test_a_target_score_of_another_match_makes_its_deals_impossible():
    """Won at 61, the match would have gone on to 62: then it is saved between deals, not over."""
    vector = PLAYED["match2-006"]
    source = decks_of(vector)
    match = Match.start(Terms("two-player", 61, vector["first_dealer"], 30, 10), source, 0)
    for card in vector["deals"][0]["plays"]:
        match = match.act(match.deal.to_move, Play(parse_card(card)), source, 0)
    saved = match.to_json()
    assert Match.from_json(saved).is_over
    with pytest.raises(MalformedState, match="if, and only if, there is a timeout"):
        Match.from_json(saved | {"terms": saved["terms"] | {"target_score": 62}})


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


def replaced(value, path, new):
    """A copy of a JSON value with `new` at `path`."""
    if not path:
        return new
    copied = value.copy()
    copied[path[0]] = replaced(value[path[0]], path[1:], new)
    return copied


def paths(value):
    """The way to every field of a JSON object and to the first item of every list."""
    items = (
        value.items() if isinstance(value, dict) else enumerate(value[:1] if isinstance(value, list) else [])
    )
    for key, below in items:
        yield (key,)
        yield from ((key, *path) for path in paths(below))


@pytest.mark.parametrize(
    "strange",
    [-1, 1.5, float("inf"), 10**5000, "\ud800", b"1", {"a": 1}, nested(2), nested(100_000), {1}],
    ids=lambda value: type(value).__name__,
)
def test_a_strange_value_in_any_place_is_refused_in_a_few_words(strange):
    saved = saved_between_deals()
    for path in [(), *paths(saved)]:
        if not (path == ("deadline",) and strange in (-1, 1.5)) and "timeout" not in str(path):
            with pytest.raises(MalformedState) as refusal:
                Match.from_json(replaced(saved, path, strange))
            assert 10 < len(str(refusal.value)) < 200


@pytest.mark.parametrize("value", [None, [], 0, "match", {}])
def test_what_is_no_match_at_all(value):
    with pytest.raises(MalformedState):
        Match.from_json(value)
