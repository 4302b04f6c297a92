from typing import Any

import pytest

from app.briscola.action import Pass, Play
from app.briscola.cards import DECK, Card, parse_card
from app.briscola.errors import CardNotInHand, GameOver, MalformedState, NotYourTurn, UnknownSeat, WrongPhase
from app.briscola.partnership import Partnership
from tests.vectors import load

DEALS = [
    pytest.param(deal, id=f"{match['name']}-{number}")
    for match in load("briscola_four.json")["matches"]
    for number, deal in enumerate(match["deals"], 1)
]


def texts(cards: Any) -> list[str]:
    return [str(card) for card in cards]


def start(deal: dict[str, Any]) -> Partnership:
    return Partnership.start([parse_card(card) for card in deal["deck"]], deal["leader"])


@pytest.mark.parametrize("deal", DEALS)
def test_deal_of_the_vectors_plays_as_written(deal: dict[str, Any]) -> None:
    state = start(deal)
    assert [texts(hand) for hand in state.hands] == deal["hands"]
    assert str(state.face_up) == deal["briscola"]
    assert texts(state.table.stock) == deal["stock"]
    plays = iter(deal["plays"])
    for trick in deal["tricks"]:
        assert state.table.leader == trick["leader"]
        assert state.to_move == trick["leader"]
        for number in range(4):
            seat = (trick["leader"] + number) % 4
            before = state.hands
            card = next(plays)
            assert card == trick["cards"][number]
            state = state.act(seat, Play(parse_card(card)))
        assert state.table.leader == trick["winner"]
        assert list(state.table.points) == trick["totals"]
        assert len(state.table.stock) == trick["stock_left"]
        after = state.hands
        drawn = [after[(trick["winner"] + number) % 4][-1] for number in range(4) if trick["drawn"]]
        assert texts(drawn) == trick["drawn"]
        assert before != after
    assert state.is_over
    outcome = state.outcome
    assert outcome is not None
    assert outcome.sides == ((0, 2), (1, 3))
    assert list(state.table.points) == deal["per_player"]
    assert list(outcome.points) == deal["team_points"]
    ours, theirs = deal["team_points"]
    assert outcome.winner == (None if deal["patta"] else int(theirs > ours))


def test_refusals_name_their_reason_and_change_nothing() -> None:
    # The deck in its fixed order: seat 1 is dealt first and gets B1, B5, B9; the face-up card is C3.
    state = Partnership.start(DECK, 1)
    assert texts(state.hands[1]) == ["B1", "B5", "B9"]
    assert state.face_up is Card.C3
    before = state.to_json()
    with pytest.raises(NotYourTurn, match="turn of seat 1, not of seat 0"):
        state.act(0, Play(Card.B4))
    with pytest.raises(UnknownSeat, match="no seat 4"):
        state.act(4, Play(Card.B4))
    with pytest.raises(UnknownSeat):
        state.observation(-1)
    with pytest.raises(CardNotInHand, match="B2 is not in the hand of seat 1"):
        state.act(1, Play(Card.B2))
    with pytest.raises(CardNotInHand):
        state.apply(Play(Card.C3))
    with pytest.raises(WrongPhase, match="plays only"):
        state.apply(Pass())
    assert state.to_json() == before


def test_nothing_can_be_played_after_the_tenth_trick() -> None:
    state = start(load("briscola_four.json")["matches"][0]["deals"][0])
    while not state.is_over:
        state = state.apply(state.legal_actions()[0])
    assert len(state.actions) == 40
    assert state.legal_actions() == ()
    with pytest.raises(GameOver, match="every card is played"):
        state.apply(Play(Card.B1))
    with pytest.raises(GameOver):
        state.act(0, Play(Card.B1))


@pytest.mark.parametrize("first", [-1, 4])
def test_a_deal_begins_with_one_of_four_seats(first: int) -> None:
    with pytest.raises(MalformedState, match="the seats are 0 to 3"):
        Partnership.start(DECK, first)


def test_json_of_an_observation() -> None:
    # Seat 0 holds B1 B5 B9, seat 1 B2 B6 B10, seat 2 B3 B7 C1, seat 3 B4 B8 C2; briscola C3.
    state = Partnership.start(DECK).apply(Play(Card.B1)).apply(Play(Card.B10))
    assert state.observation(2).to_json() == {
        "variant": "partnership",
        "first": 0,
        "to_move": 2,
        "trump": "C",
        "face_up": "C3",
        "stock_left": 28,
        "leader": 0,
        "table": ["B1", "B10"],
        "hand_sizes": [2, 2, 3, 3],
        "points": [0, 0, 0, 0],
        "actions": ["play B1", "play B10"],
        "seat": 2,
        "hand": ["B3", "B7", "C1"],
        "legal_actions": ["play B3", "play B7", "play C1"],
    }
    assert state.observation(0).legal_actions == ()
