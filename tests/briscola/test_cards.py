"""Cards: their order, points and names."""

import copy
import pickle

import pytest

from app.briscola.cards import DECK, Card, Rank, Suit, card_of, parse_card
from app.briscola.errors import MalformedCard

# Seed 002: the points of a suit, and the order ace, three, king, queen, jack, seven … two.
POINTS = {1: 11, 2: 0, 3: 10, 4: 0, 5: 0, 6: 0, 7: 0, 8: 2, 9: 3, 10: 4}
STRONGEST_FIRST = [1, 3, 10, 9, 8, 7, 6, 5, 4, 2]


def test_the_deck():
    assert [str(card) for card in DECK] == [f"{suit}{n}" for suit in "BCDS" for n in range(1, 11)]
    assert [int(card) for card in DECK] == list(range(40))
    assert sum(card.points for card in DECK) == 120


def test_points_and_strength():
    for suit in Suit:
        cards = [parse_card(f"{suit.letter}{n}") for n in STRONGEST_FIRST]
        assert sorted(cards, key=lambda card: card.rank, reverse=True) == cards
        assert {card.rank.number: card.points for card in cards} == POINTS
    assert [int(rank) for rank in Rank] == list(range(10))


@pytest.mark.parametrize(
    ("text", "italian", "english"),
    [
        ("C10", "re di coppe", "king of hearts"),
        ("D1", "asso di denari", "ace of diamonds"),
        ("B9", "cavallo di bastoni", "queen of clubs"),
        ("S8", "fante di spade", "jack of spades"),
        ("C3", "tre di coppe", "three of hearts"),
        ("S7", "sette di spade", "seven of spades"),
        ("D2", "due di denari", "two of diamonds"),
    ],
)
def test_names(text, italian, english):
    card = parse_card(text)
    assert (card.italian, card.english) == (italian, english)
    assert f"{card:>4}" == text.rjust(4)


@pytest.mark.parametrize(
    "text", ["", "B", "B0", "B11", "b8", "B8 ", " B8", "B08", "8B", "X1", "10", "B8\n", "٣", "Suit"]
)
def test_no_such_card(text):
    with pytest.raises(MalformedCard, match="no such card"):
        parse_card(text)


def test_a_card_is_one_object():
    for card in DECK:
        assert parse_card(str(card)) is card
        assert card_of(card.suit, card.rank) is card
        assert pickle.loads(pickle.dumps(card)) is card
        assert copy.deepcopy(card) is card


def test_ladder_letters():
    assert [rank.letter for rank in reversed(Rank)] == ["A", "3", "K", "H", "J", "7", "6", "5", "4", "2"]
    assert Card.B9.rank is Rank.HORSE
