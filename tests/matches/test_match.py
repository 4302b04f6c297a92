"""A hand against the computer, ply by ply: whose turn, what is refused, what can be said twice."""

from __future__ import annotations

import random

import pytest

from app.briscola.cards import DECK, Card
from app.briscola.errors import CardNotInHand, GameOver, NotYourTurn
from app.matches.match import Match, Ply, Side, WrongPly
from tests.matches import reference
from tests.matches.made import played, terms

SEED = b"\3" * 32
DEALT = Match.deal(terms(), SEED, SEED)


def test_the_player_leads_and_the_computer_answers():
    assert (DEALT.to_move, DEALT.next_ply, DEALT.plays) == (Side.PLAYER, 1, ())
    card = DEALT.observation.hand[1]
    led = DEALT.play(1, card)
    assert (led.to_move, led.plays) == (Side.COMPUTER, (Ply(Side.PLAYER, card),))
    answered = led.reply()
    assert answered.to_move is Side.PLAYER
    # One answer, and the computer's lead beside it if it took the trick.
    sides = [side for side, _ in answered.plays]
    took = answered.state.table.leader == 1
    assert sides == [Side.PLAYER, Side.COMPUTER, *[Side.COMPUTER] * took]
    assert answered.reply() is answered


@pytest.mark.parametrize("level", ["gentle", "normal", "sharp"])
def test_whole_hands_as_another_reading_plays_them(level):
    lots = random.Random(level)
    for _ in range(300):
        server_seed, client_seed = lots.randbytes(32), lots.randbytes(32)
        order = [lots.random() for _ in range(40)]
        match = Match.deal(terms(level), server_seed, client_seed)
        while not match.is_over:
            hand = match.observation.hand
            match = match.play(match.next_ply, hand[int(order[match.next_ply - 1] * len(hand))]).reply()
        case = {
            "match": terms().match,
            "server_seed": server_seed.hex(),
            "client_seed": client_seed.hex(),
        }
        deck = reference.deck_of(reference.common_seed("deck", case))
        plays, points = reference.play_out(
            deck, level, lambda ply, hand, order=order: hand[int(order[ply - 1] * len(hand))]
        )
        assert [[side.value, str(card)] for side, card in match.plays] == plays
        assert list(match.points) == points


def test_a_match_is_its_seeds_and_its_cards():
    match = DEALT
    while not match.is_over:
        again = Match.deal(terms(), SEED, SEED, [ply.card for ply in match.plays])
        assert again == match
        match = match.play(match.next_ply, match.observation.hand[-1]).reply()
    assert sum(match.points) == 120
    assert match.to_move is None
    assert match.next_ply == 41


def test_the_plays_of_master_are_taken_as_made():
    # Rebuilt with plays that master might never choose: nothing is thought over.
    match = Match.deal(terms("master"), SEED, SEED)
    hands = match.state.hands
    rebuilt = Match.deal(terms("master"), SEED, SEED, [hands[0][0], hands[1][2]])
    assert [ply.card for ply in rebuilt.plays] == [hands[0][0], hands[1][2]]


def test_master_follows_its_play_seed():
    match = Match.deal(terms("master"), SEED, SEED).play(1, DEALT.observation.hand[0])
    assert match.choice() is match.choice()
    assert match.choice() in match.state.hands[1]


def test_a_play_can_be_said_twice():
    card = DEALT.observation.hand[0]
    once = DEALT.play(1, card)
    answered = once.reply()
    assert once.play(1, card) is once
    assert answered.play(1, card) is answered
    over = played(DEALT)
    last = max(n for n, ply in enumerate(over.plays, 1) if ply.side is Side.PLAYER)
    assert over.play(last, over.plays[last - 1].card) is over


def test_what_is_refused_changes_nothing():
    card, other = DEALT.observation.hand[:2]
    once = DEALT.play(1, card)
    answered = once.reply()
    for ply in (0, -1, 2, 40, 41):
        with pytest.raises(WrongPly, match=f"the next ply is 1, not {ply}"):
            DEALT.play(ply, card)
    with pytest.raises(WrongPly, match=f"ply 1 was {card}, played by the player"):
        answered.play(1, other)
    computers = answered.plays[1].card
    with pytest.raises(WrongPly, match=f"ply 2 was {computers}, played by the computer"):
        answered.play(2, computers)
    with pytest.raises(NotYourTurn, match="the computer is to move"):
        once.play(2, other)
    with pytest.raises(CardNotInHand):
        answered.play(answered.next_ply, card)
    for elsewhere in set(DECK) - set(DEALT.observation.hand):
        with pytest.raises(CardNotInHand, match=f"{elsewhere} is not in the hand"):
            DEALT.play(1, elsewhere)
    over = played(DEALT)
    with pytest.raises(GameOver):
        over.play(41, card)
    with pytest.raises(GameOver):
        over.after(card)
    with pytest.raises(NotYourTurn):
        DEALT.choice()


def test_a_rebuilt_match_refuses_cards_that_cannot_be_played():
    with pytest.raises(CardNotInHand):
        Match.deal(terms(), SEED, SEED, [DEALT.state.hands[1][0]])
    over = played(DEALT)
    with pytest.raises(GameOver):
        Match.deal(terms(), SEED, SEED, [*(ply.card for ply in over.plays), Card.B1])


def test_no_text_of_a_match_shows_what_is_hidden():
    shown = {str(ply.card) for ply in DEALT.reply().plays}
    text = f"{DEALT!r} {DEALT}"
    assert [str(card) for card in DECK if f"{card}" in text and str(card) not in shown] == []
    assert DEALT.play_seed.hex() not in text
    assert repr(DEALT.play_seed) not in text


def test_the_observation_is_the_players():
    told = played(DEALT, 7).observation
    assert told.seat == 0
    assert told.public.first == 0
