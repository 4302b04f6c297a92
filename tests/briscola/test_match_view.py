import re

from app.briscola.action import Ack, Play
from app.briscola.cards import DECK
from app.briscola.match import Match
from app.briscola.match_view import Phase
from app.briscola.source import SeededSource
from app.briscola.terms import Terms

SOURCE = SeededSource(bytes(range(32)))


def cards_named(told):
    """Every card that a JSON value names, on its own or in an action."""
    if isinstance(told, dict):
        return set().union(*map(cards_named, told.values()))
    if isinstance(told, list):
        return set().union(*map(cards_named, told))
    return set(re.findall(r"\b[BCDS](?:10|[1-9])\b", told)) if isinstance(told, str) else set()


def test_the_first_turn_as_json():
    match = Match.start(Terms("partnership", 100, 3, turn_timeout=30), SOURCE, 1000)
    hand = [str(card) for card in match.deal.hands[0]]
    told = match.observation(0).to_json()
    deal = told.pop("deal")
    assert told == {
        "phase": "play",
        "target_score": 100,
        "dealer": 3,
        "scores": [0, 0],
        "waiting_for": [0],
        "deadline": 1030,
        "winner": None,
        "summaries": [],
        "legal_actions": [f"play {card}" for card in hand],
    }
    assert deal["hand"] == hand
    assert cards_named(told) | cards_named(deal) == {*hand, str(match.deal.face_up)}
    assert match.observation(1).legal_actions == ()


def test_a_whole_chiamata_names_no_card_before_its_time():
    match = Match.start(Terms("chiamata", turn_timeout=1), SOURCE, 0)
    dealt = match.deal.hands
    while not match.is_over:
        played = {str(action.card) for action in match.deal.actions if isinstance(action, Play)}
        called = {str(match.deal.called)} if match.deal.called else set()
        callable_by = match.deal.to_move if match.deal.auction.is_over and not called else None
        for seat in range(5):
            told = cards_named(match.observation(seat).to_json())
            own = {str(card) for card in dealt[seat]}
            allowed = played | called | own
            assert told <= (allowed if seat != callable_by else set(map(str, DECK)))
        match = match.tick(SOURCE, match.deadline)
    assert cards_named(match.observation(0).to_json()) == set(map(str, DECK))


def test_between_deals_everybody_is_shown_the_summary():
    match = Match.start(Terms("two-player", 120), SOURCE, 0)
    while match.phase is Phase.PLAY:
        match = match.act(match.deal.to_move, match.deal.legal_actions()[0], SOURCE, 0)
    told = match.observation(1)
    assert told.phase is Phase.ACKNOWLEDGE
    assert told.legal_actions == (Ack(1),)
    assert told.waiting_for == (0, 1)
    assert told.summaries == match.summaries
    assert sum(told.scores) == 120
