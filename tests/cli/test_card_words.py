"""Words for cards, seats and deeds."""

import pytest

from app.briscola.action import Ack, Bid, Call, Pass, Play, Raise
from app.briscola.cards import Card, Rank, Suit
from app.cli.card_words import CardWords

TWO, FOUR, FIVE = (CardWords("italian", seats) for seats in (2, 4, 5))


@pytest.mark.parametrize(
    ("words", "seat", "action", "leads", "text"),
    [
        (TWO, 0, Play(Card.C10), True, "You lead re di coppe (C10)"),
        (TWO, 1, Play(Card.C10), False, "Computer plays re di coppe (C10)"),
        (FOUR, 2, Play(Card.S1), True, "Partner leads asso di spade (S1)"),
        (FOUR, 3, Play(Card.S1), False, "Seat 3 plays asso di spade (S1)"),
        (FIVE, 4, Bid(Rank.HORSE), True, "Seat 4 bids cavallo (H)"),
        (FIVE, 0, Raise(64), True, "You bid 64 points"),
        (FIVE, 1, Pass(), True, "Seat 1 passes"),
        (FIVE, 0, Pass(), True, "You pass"),
        (FIVE, 2, Call(Card.D2), True, "Seat 2 calls due di denari (D2)"),
        (CardWords("english", 5), 2, Bid(Rank.HORSE), True, "Seat 2 bids queen (H)"),
        (CardWords("english", 2), 0, Play(Card.B9), False, "You play queen of clubs (B9)"),
        (FOUR, 1, Ack(1), False, "Seat 1: ack 1"),
    ],
)
def test_deeds(words, seat, action, leads, text):
    assert words.deed(seat, action, leads).plain == text


def test_suits_and_totals():
    assert [TWO.suit(suit).plain for suit in Suit] == ["bastoni", "coppe", "denari", "spade"]
    assert TWO.totals((72, 48)) == [("you", 72), ("computer", 48)]
    assert FOUR.totals((1, 2, 3, 4)) == [("your side", 4), ("the others", 6)]
    assert FIVE.totals((1, 2, 3, 4, 5))[4] == ("seat 4", 5)


@pytest.mark.parametrize(
    ("seat", "alone", "text"),
    [
        (0, True, "You play alone"),
        (0, False, "You are the partner"),
        (3, True, "Seat 3 plays alone"),
        (3, False, "Seat 3 is the partner"),
    ],
)
def test_who_held_the_called_card(seat, alone, text):
    assert FIVE.holder(seat, alone) == text
