"""Who takes a trick, against the full table of the vectors and worked tricks of three and more."""

from itertools import product

import pytest

from app.briscola.cards import DECK, Suit, parse_card
from app.briscola.trick import points, winner
from tests.vectors import load

SUITS = {suit.letter: suit for suit in Suit}


@pytest.mark.parametrize("table", load("briscola_two.json")["trick_table"], ids=lambda table: table["trump"])
def test_every_pair(table):
    for led, second in product(DECK, DECK):
        if led is not second:
            takes = str(second) in table["second_wins"][str(led)]
            assert winner([led, second], SUITS[table["trump"]]) == takes, (led, second)


@pytest.mark.parametrize(
    ("trump", "cards", "position", "worth"),
    [
        ("D", "S10", 0, 4),
        ("D", "S10 D5", 1, 4),
        ("D", "C3 C1", 1, 21),
        ("S", "C6 B5 D7 D5", 0, 0),
        ("D", "S2 D1 B8 B9", 1, 16),
        ("D", "S2 B1 C1 S4", 3, 22),
        ("C", "B1 C2 C4 B3 C9", 4, 24),
        ("C", "C2 B1 D1 S1 B3", 0, 43),
    ],
)
def test_worked_tricks(trump, cards, position, worth):
    played = [parse_card(card) for card in cards.split()]
    assert winner(played, SUITS[trump]) == position
    assert points(played) == worth
