from typing import Any

import pytest

from app.briscola.action import Bid, Call, Pass, Play, parse_action
from app.briscola.cards import DECK, Card, Rank, Suit, parse_card
from app.briscola.chiamata import Chiamata, ChiamataPublic
from app.briscola.errors import (
    CardNotInHand,
    GameOver,
    MalformedAction,
    NotYourTurn,
    UnknownSeat,
    WrongPhase,
    WrongRank,
)
from tests.vectors import action_text, load

VECTORS = load("chiamata.json")
DEALS = [
    pytest.param(deal, id=f"{match['name']}-{number}")
    for match in VECTORS["matches"]
    for number, deal in enumerate(match["deals"], 1)
]


def texts(cards: Any) -> list[str]:
    return [str(card) for card in cards]


def start(deal: dict[str, Any]) -> Chiamata:
    return Chiamata.start([parse_card(card) for card in deal["deck"]], deal["first"])


def called(deal: dict[str, Any]) -> Chiamata:
    """The deal of the vectors up to the first play."""
    state = start(deal)
    for entry in deal["auction"]:
        state = state.act(entry["player"], parse_action(action_text(entry)))
    assert state.to_move == deal["caller"]
    assert texts(state.legal_actions()) == [f"call {card}" for card in deal["call_choices"]]
    return state.act(deal["caller"], Call(parse_card(deal["called"])))


def public(state: Chiamata, seat: int) -> ChiamataPublic:
    seen = state.observation(seat).public
    assert isinstance(seen, ChiamataPublic)
    return seen


@pytest.mark.parametrize("deal", DEALS)
def test_deal_of_the_vectors_plays_as_written(deal: dict[str, Any]) -> None:
    state = called(deal)
    assert [texts(hand) for hand in state.hands] == deal["hands"]
    shown = deal["caller"] if deal["alone"] else deal["partner"]
    visible_from = deal["called_card_play_index"] + 1
    plays = iter(enumerate(deal["plays"]))
    for trick in deal["tricks"]:
        assert state.to_move == trick["leader"]
        for number in range(5):
            played, card = next(plays)
            assert card == trick["cards"][number]
            for seat in range(5):
                seen = public(state, seat)
                assert seen.holder == (shown if played >= visible_from else None)
                assert str(seen.called) == deal["called"]
                assert seen.trump is not None
                assert seen.trump.letter == deal["briscola_suit"]
                assert seen.target == deal["target"]
                assert seen.bidder == deal["caller"]
            state = state.act((trick["leader"] + number) % 5, Play(parse_card(card)))
        seen = public(state, 0)
        assert seen.leader == trick["winner"]
        assert list(seen.points) == trick["totals"]
    assert state.is_over
    outcome = state.outcome
    assert outcome is not None
    assert list(outcome.sides[0]) == deal["calling_side"]
    assert sorted(outcome.sides[0] + outcome.sides[1]) == [0, 1, 2, 3, 4]
    assert list(public(state, 0).points) == deal["per_player"]
    assert outcome.points == (deal["calling_points"], deal["other_points"])
    assert {None: "patta", 0: "calling", 1: "others"}[outcome.winner] == deal["outcome"]


def test_the_other_refusals_of_the_vectors() -> None:
    cases = VECTORS["other_refusals"]
    deal = next(m for m in VECTORS["matches"] if cases["name"] == f"from {m['name']}")["deals"][0]
    bidding = start(deal)
    calling = bidding
    for entry in deal["auction"]:
        calling = calling.act(entry["player"], parse_action(action_text(entry)))
    errors = {
        "only the auction winner calls": NotYourTurn,
        "card of another rank": WrongRank,
        "no such card": MalformedAction,
        "no card": MalformedAction,
        "play before the auction is over": WrongPhase,
        "play before the call": WrongPhase,
        "not the leader": NotYourTurn,
        "card of another hand": CardNotInHand,
        "leader twice": NotYourTurn,
        "card already played": CardNotInHand,
        "the deal is over": GameOver,
    }
    for case in cases["refused"]:
        state = {"auction": bidding, "call": calling, "play": called(deal)}[case["phase"]]
        for card in deal["plays"][: case.get("after_plays", 0)]:
            state = state.apply(Play(parse_card(card)))
        verb = "play" if case["why"].startswith("play") or case["phase"] == "play" else "call"
        before = state.to_json()
        with pytest.raises(errors[case["why"]]):
            state.act(case["player"], parse_action(f"{verb} {case['card'] or ''}"))
        assert state.to_json() == before


def sorted_deal() -> Chiamata:
    """Seat s holds the cards s, s + 5 … of the fixed deck: seat 0 has B1 B6 C1 C6 D1 D6 S1 S6."""
    return Chiamata.start(DECK)


def won_by_seat_0() -> Chiamata:
    state = sorted_deal().apply(Bid(Rank.THREE))
    for _ in range(4):
        state = state.apply(Pass())
    return state


def test_the_call_comes_between_auction_and_play() -> None:
    state = won_by_seat_0()
    assert state.to_move == 0
    assert public(state, 1).trump is None
    with pytest.raises(WrongPhase, match="the auction is won, call a card"):
        state.apply(Play(Card.B1))
    with pytest.raises(WrongPhase):
        state.apply(Pass())
    with pytest.raises(WrongRank, match="C1 cannot be called: it is no three"):
        state.apply(Call(Card.C1))
    playing = state.apply(Call(Card.C3))
    with pytest.raises(WrongPhase, match="comes too late"):
        playing.apply(Call(Card.D3))
    with pytest.raises(UnknownSeat):
        playing.observation(5)
    # C3 is card 12 of the deck, dealt to seat 12 mod 5 = 2.
    assert playing.holder == 2
    assert public(playing, 0).trump is Suit.COPPE


def swapped(state: Chiamata, one: Card, other: Card) -> Chiamata:
    """The same actions after a deal in which two cards have changed places."""
    exchange = {one: other, other: one}
    again = Chiamata.start([exchange.get(card, card) for card in state.deck], state.first)
    for action in state.actions:
        again = again.apply(action)
    return again


def test_only_the_holder_knows_who_holds_the_called_card() -> None:
    """Moving the called card between two hidden hands changes what those two see and nobody else."""
    state = won_by_seat_0().apply(Call(Card.C3)).apply(Play(Card.B1))
    other = swapped(state, Card.C3, Card.C4)  # from seat 2 to seat 3
    assert (state.holder, other.holder) == (2, 3)
    for seat in (0, 1, 4):
        assert state.observation(seat) == other.observation(seat)
    for seat in (2, 3):
        assert state.observation(seat) != other.observation(seat)


def test_the_secret_stays_one_when_the_caller_is_alone() -> None:
    state = sorted_deal().apply(Bid(Rank.ACE))
    for _ in range(4):
        state = state.apply(Pass())
    alone = state.apply(Call(Card.B1)).apply(Play(Card.B6))
    accompanied = swapped(alone, Card.B1, Card.B2)
    assert (alone.holder, accompanied.holder) == (0, 1)
    for seat in (2, 3, 4):
        assert alone.observation(seat) == accompanied.observation(seat)


def test_json_of_an_observation_during_the_auction() -> None:
    state = sorted_deal().apply(Pass()).apply(Bid(Rank.TWO))
    told = state.observation(2).to_json()
    assert told == {
        "variant": "chiamata",
        "first": 0,
        "to_move": 2,
        "trump": None,
        "face_up": None,
        "stock_left": 0,
        "leader": 0,
        "table": [],
        "hand_sizes": [8, 8, 8, 8, 8],
        "points": [0, 0, 0, 0, 0],
        "actions": ["pass", "bid 2"],
        "bidding": [1, 2, 3, 4],
        "standing": "bid 2",
        "bidder": 1,
        "target": 61,
        "called": None,
        "holder": None,
        "seat": 2,
        "hand": ["B3", "B8", "C3", "C8", "D3", "D8", "S3", "S8"],
        "legal_actions": ["pass", "bid 62"],
    }
    assert state.observation(3).legal_actions == ()
