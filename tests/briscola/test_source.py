from hypothesis import given
from hypothesis import strategies as st

from app.briscola.action import Call
from app.briscola.cards import DECK, Rank, Suit, card_of
from app.briscola.shuffle import RandomSource
from app.briscola.source import SeededSource

CALLS = tuple(Call(card_of(suit, Rank.SIX)) for suit in Suit)
SEEDS = st.binary(min_size=32, max_size=32)


@given(SEEDS, st.integers(0, 30))
def test_the_answer_depends_on_seed_and_deal_alone(seed, deal):
    asked_before = SeededSource(seed)
    asked_before.deck(deal + 1)
    asked_before.choose(deal, CALLS)
    assert asked_before.deck(deal) == SeededSource(seed).deck(deal)
    assert asked_before.choose(deal, CALLS) == SeededSource(seed).choose(deal, CALLS)
    assert sorted(asked_before.deck(deal)) == list(DECK)
    assert asked_before.deck(deal) != asked_before.deck(deal + 1)
    assert asked_before.choose(deal, CALLS) in CALLS


def test_the_streams_are_those_documented():
    seed = bytes(range(32))
    assert SeededSource(seed).deck(12) == RandomSource(seed, b"deck 12").shuffled(DECK)
    assert SeededSource(seed).choose(3, CALLS) == RandomSource(seed, b"choice 3").choice(CALLS)


def test_every_suit_is_called_sometimes():
    source = SeededSource(bytes(32))
    assert {source.choose(deal, CALLS) for deal in range(40)} == set(CALLS)


def test_its_text_does_not_show_the_seed():
    assert str(SeededSource(b"\x11" * 32)) == "SeededSource()"
