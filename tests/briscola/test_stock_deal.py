"""What the two variants with a stock share, beside what the vectors of each hold."""

import pytest

from app.briscola.action import Ack, Bid, Call, Pass
from app.briscola.cards import DECK, Card, Rank
from app.briscola.errors import MalformedState, WrongPhase
from app.briscola.partnership import Partnership
from app.briscola.two_player import TwoPlayer

both = pytest.mark.parametrize("variant", [TwoPlayer, Partnership])


@both
@pytest.mark.parametrize("action", [Pass(), Bid(Rank.ACE), Call(Card.B1), Ack(0)], ids=str)
def test_plays_only(variant, action):
    with pytest.raises(WrongPhase, match=f"'{action}' has no place here: {variant.variant} knows plays only"):
        variant.start(DECK).apply(action)


@both
@pytest.mark.parametrize(
    ("deck", "message"),
    [
        (DECK[1:], "forty cards"),
        ((*DECK[1:], DECK[1]), "forty cards"),
        ((*DECK, DECK[0]), "forty cards"),
    ],
)
def test_no_such_deck(variant, deck, message):
    with pytest.raises(MalformedState, match=message):
        variant.start(deck)


@pytest.mark.parametrize(
    ("variant", "first"),
    [(TwoPlayer, 2), (TwoPlayer, -1), (TwoPlayer, True), (Partnership, 4), (Partnership, 0.5)],
)
def test_no_such_seat_to_lead(variant, first):
    with pytest.raises(MalformedState, match=f"no seat {first}"):
        variant.start(DECK, first)


def test_the_face_up_card_is_drawn_last():
    two, four = TwoPlayer.start(DECK), Partnership.start(DECK)
    assert (two.face_up, two.table.stock[-1], len(two.table.stock)) == (Card.B7, Card.B7, 34)
    assert (four.face_up, four.table.stock[-1], len(four.table.stock)) == (Card.C3, Card.C3, 28)
