"""What holds in every variant, whatever is played."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.briscola.action import PLAYS, Ack, Action, Bid, Call, Pass, Raise
from app.briscola.cards import DECK, Rank
from app.briscola.errors import BriscolaError, IllegalAction, NotYourTurn
from app.briscola.game import State
from app.briscola.shuffle import RandomSource
from app.briscola.variants import VARIANTS

SEEDS = st.binary(min_size=32, max_size=32)
EVERY_ACTION: tuple[Action, ...] = (
    *PLAYS,
    *map(Bid, Rank),
    *map(Raise, range(62, 121, 2)),
    Pass(),
    *map(Call, DECK),
    *map(Ack, range(5)),
)

every_variant = pytest.mark.parametrize("variant", VARIANTS.values(), ids=VARIANTS)


def random_states(variant: type[State], source: RandomSource) -> list[State]:
    """Every state of one hand of random legal play, from the deal to the end."""
    states = [variant.start(source.shuffled(DECK), source.randbelow(variant.seats))]
    while not states[-1].is_over:
        states.append(states[-1].apply(source.choice(states[-1].legal_actions())))
        assert len(states) < 200, "no variant goes on for ever"
    return states


@every_variant
@settings(max_examples=25, deadline=None)
@given(seed=SEEDS)
def test_the_deck_holds_120_points(variant, seed):
    *before, last = random_states(variant, RandomSource(seed))
    assert all(state.outcome is None for state in before)
    outcome = last.outcome
    assert sum(outcome.points) == 120
    assert sorted(seat for side in outcome.sides for seat in side) == list(range(variant.seats))
    assert last.legal_actions() == ()
    played = [action.card for action in last.actions if action in PLAYS]
    assert sorted(played) == list(DECK)


@every_variant
@settings(max_examples=10, deadline=None)
@given(seed=SEEDS)
def test_json_round_trip_at_every_ply(variant, seed):
    for state in random_states(variant, RandomSource(seed)):
        again = variant.from_json(json.loads(json.dumps(state.to_json())))
        assert again == state
        assert hash(again) == hash(state)
        for seat in range(variant.seats):
            assert hash(again.observation(seat)) == hash(state.observation(seat))
            told = state.observation(seat).to_json()
            assert json.loads(json.dumps(told)) == told


@every_variant
@settings(max_examples=10, deadline=None)
@given(seed=SEEDS)
def test_what_is_not_legal_is_refused_and_changes_nothing(variant, seed):
    for state in random_states(variant, RandomSource(seed)):
        legal = state.legal_actions()
        assert len(set(legal)) == len(legal)
        before = json.dumps(state.to_json()), repr(state)
        for action in EVERY_ACTION:
            if action not in legal:
                with pytest.raises(IllegalAction):
                    state.apply(action)
        assert (json.dumps(state.to_json()), repr(state)) == before
        for seat in range(variant.seats):
            if seat != state.to_move and not state.is_over:
                with pytest.raises(NotYourTurn):
                    state.act(seat, legal[0])


@every_variant
@settings(max_examples=10, deadline=None)
@given(seed=SEEDS)
def test_a_seat_is_told_of_no_hidden_card(variant, seed):
    source = RandomSource(seed)
    for state in random_states(variant, source):
        for seat in range(variant.seats):
            told = state.observation(seat)
            seen = {*told.hand, told.public.face_up}
            seen |= {action.card for action in state.actions if action in PLAYS}
            hidden = [card for card in state.deck if card not in seen]
            if len(hidden) < 2:
                continue
            one, two = source.shuffled(hidden)[:2]
            swap = {one: two, two: one}
            other = variant.start([swap.get(card, card) for card in state.deck], state.first)
            for action in state.actions:
                other = other.apply(action)
            assert other.observation(seat) == told


@every_variant
def test_from_json_only_ever_refuses_with_its_own_error(variant):
    for value in (None, {}, [], 0, {"variant": variant.variant, "deck": [], "first": 0, "actions": []}):
        with pytest.raises(BriscolaError):
            variant.from_json(value)
