"""Two-player hands against the vectors: every deal, trick, draw, total and refusal."""

import pytest

from app.briscola.action import PLAYS, parse_action
from app.briscola.cards import DECK, Card, parse_card
from app.briscola.errors import (
    BriscolaError,
    CardNotInHand,
    GameOver,
    IllegalAction,
    MalformedAction,
    NotYourTurn,
    UnknownSeat,
)
from app.briscola.game import Outcome
from app.briscola.two_player import TwoPlayer
from tests.vectors import load

VECTORS = load("briscola_two.json")
HANDS = {hand["name"]: hand for hand in VECTORS["hands"]}


def texts(cards) -> list[str]:
    return [str(card) for card in cards]


def start(hand: dict) -> TwoPlayer:
    return TwoPlayer.start([parse_card(card) for card in hand["deck"]], hand["leader"])


def test_all_185_hands_are_here():
    assert len(HANDS) == 185


@pytest.mark.parametrize("hand", HANDS.values(), ids=HANDS)
def test_hand(hand):
    state = start(hand)
    assert [texts(cards) for cards in state.hands] == hand["hands"]
    assert str(state.face_up) == hand["briscola"]
    assert texts(state.table.stock) == hand["stock"]
    plays = iter(hand["plays"])
    for trick in hand["tricks"]:
        assert state.outcome is None
        assert state.to_move == state.table.leader == trick["leader"]
        held = {card for cards in state.hands for card in cards}
        for card in trick["cards"]:
            assert card == next(plays)
            action = parse_action(f"play {card}")
            assert action in state.legal_actions()
            state = state.act(state.to_move, action)
        assert list(state.table.points) == trick["totals"]
        assert len(state.table.stock) == trick["stock_left"]
        winner, loser = trick["winner"], 1 - trick["winner"]
        drawn = [card for seat in (winner, loser) for card in state.hands[seat] if card not in held]
        assert texts(drawn) == trick["drawn"]
    assert state.is_over
    result = {0: 0, 1: 1}.get(hand["result"])
    assert state.outcome == Outcome(sides=((0,), (1,)), points=tuple(hand["final"]), winner=result)


REFUSALS = {
    "card in the other hand": CardNotInHand,
    "not this player's turn": NotYourTurn,
    "card still in the stock": CardNotInHand,
    "the face-up card is not in a hand": CardNotInHand,
    "the leader plays twice": NotYourTurn,
    "card already played": CardNotInHand,
    "the loser of the trick does not lead": NotYourTurn,
    "the hand is over": GameOver,
    "no such card": MalformedAction,
    "no such card (spelling)": MalformedAction,
    "no such player": UnknownSeat,
}


@pytest.mark.parametrize("move", VECTORS["illegal_moves"], ids=lambda move: move["why"])
def test_illegal_moves(move):
    hand = HANDS[move["hand"]]
    state = start(hand)
    for card in hand["plays"][: move["after_plays"]]:
        state = state.apply(parse_action(f"play {card}"))
    before = state.to_json()
    with pytest.raises(BriscolaError) as refusal:
        state.act(move["player"], parse_action(f"play {move['card']}"))
    assert type(refusal.value) is REFUSALS[move["why"]]
    # Rules and syntax are told apart.
    assert isinstance(refusal.value, IllegalAction) == (type(refusal.value) is not MalformedAction)
    assert state.to_json() == before


def test_drawn_cards_come_last_in_hand():
    # Leader B1 B3 B5, other B2 B4 B6, briscola bastoni (B7); the leader's ace takes, and draws B8 before B9.
    state = TwoPlayer.start(DECK).apply(PLAYS[Card.B1]).apply(PLAYS[Card.B4])
    assert state.hands == ((Card.B3, Card.B5, Card.B8), (Card.B2, Card.B6, Card.B9))
    assert state.table.points == (11, 0)
