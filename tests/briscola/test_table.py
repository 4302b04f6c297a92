"""Play among any number of seats."""

import pytest

from app.briscola.cards import DECK, Card, Suit
from app.briscola.errors import CardNotInHand
from app.briscola.table import Table, dealt

HANDS = ((Card.B1, Card.B2), (Card.C1, Card.C3), (Card.D10, Card.S2))


def test_cards_are_dealt_one_at_a_time_from_the_first_seat():
    assert dealt(DECK, 2, 3, 2) == ((Card.B2, Card.B5), (Card.B3, Card.B6), (Card.B1, Card.B4))


def test_the_taker_draws_first_and_leads():
    stock = (Card.S4, Card.S5, Card.S6)
    table = Table.open(Suit.SPADE, stock, HANDS, 1)
    assert table.to_move == 1
    table = table.play(1, Card.C3).play(2, Card.S2)
    assert (table.to_move, table.cards) == (0, (Card.C3, Card.S2))
    table = table.play(0, Card.B1)
    # The trump two of seat 2 takes 10 + 0 + 11; draws go 2, 0, 1.
    assert (table.leader, table.to_move, table.cards, table.stock) == (2, 2, (), ())
    assert table.points == (0, 0, 21)
    assert table.hands == ((Card.B2, Card.S5), (Card.C1, Card.S6), (Card.D10, Card.S4))


def test_a_card_elsewhere_is_refused():
    table = Table.open(Suit.SPADE, (), HANDS, 0)
    with pytest.raises(CardNotInHand, match="C1 is not in the hand of seat 0"):
        table.play(0, Card.C1)
    assert table.hands == HANDS


def test_nobody_moves_once_the_hands_are_empty():
    table = Table.open(Suit.SPADE, (), ((Card.B1,), (Card.B2,)), 0).play(0, Card.B1).play(1, Card.B2)
    assert table.to_move is None
    assert table.points == (11, 0)
