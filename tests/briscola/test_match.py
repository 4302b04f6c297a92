"""Matches against the vectors, deadlines by a clock that tests set, and what holds in any match."""

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.briscola.action import Ack, Bid, Call, Pass, Play, parse_action
from app.briscola.cards import Card, Rank, parse_card
from app.briscola.errors import GameOver, NotYourTurn, UnknownSeat, WrongPhase
from app.briscola.match import Match
from app.briscola.match_view import Phase
from app.briscola.source import SeededSource
from app.briscola.terms import Terms
from app.briscola.variants import VARIANTS
from tests.briscola.matches import (
    CHIAMATE,
    FOUR,
    PLAYED,
    between_deals,
    decks_of,
    random_match,
    ticked_to_the_end,
    to_the_end,
)
from tests.vectors import action_text

SEEDS = st.binary(min_size=32, max_size=32)

every_variant = pytest.mark.parametrize("variant", VARIANTS)


def test_every_match_is_here():
    assert (len(FOUR["matches"]), len(FOUR["two_player_matches"]), len(CHIAMATE)) == (35, 15, 56)


@pytest.mark.parametrize("vector", PLAYED.values(), ids=PLAYED)
def test_match_to_a_target(vector):
    source = decks_of(vector)
    variant = {2: "two-player", 4: "partnership"}[vector["players"]]
    match = Match.start(Terms(variant, vector["target_score"], vector["first_dealer"]), source, 0)
    for number, deal in enumerate(vector["deals"], 1):
        assert len(match.deals) == number
        assert match.dealer == deal["dealer"]
        assert match.deal.to_move == deal["leader"]
        for card in deal["plays"]:
            assert match.phase is Phase.PLAY
            match = match.act(match.deal.to_move, Play(parse_card(card)), source, 0)
        summary = match.summaries[-1]
        assert summary.dealer == deal["dealer"]
        assert list(summary.points) == deal["per_player"]
        assert list(summary.outcome.points) == deal["team_points"]
        assert summary.patta == deal["patta"]
        assert list(match.score.totals) == deal["scores_after"]
        assert match.is_over == deal["match_over"]
        assert match.winner == deal["winner"]
        if not match.is_over:
            assert match.result is None
            for seat in match.waiting_for:
                match = match.act(seat, Ack(seat), source, 0)
    counted = [deal for deal in vector["deals"] if not deal["patta"]]
    result = match.result
    assert result.winner == vector["winner"]
    assert list(result.scores) == vector["final"]
    assert result.teams == (((0,), (1,)) if vector["players"] == 2 else ((0, 2), (1, 3)))
    assert list(result.points) == [
        sum(points) for points in zip(*(d["per_player"] for d in counted), strict=True)
    ]


@pytest.mark.parametrize("vector", CHIAMATE.values(), ids=CHIAMATE)
def test_chiamata_is_a_single_deal_but_for_patte(vector):
    source = decks_of(vector)
    match = Match.start(Terms("chiamata", first_dealer=vector["first_dealer"]), source, 0)
    for number, deal in enumerate(vector["deals"], 1):
        assert (len(match.deals), match.dealer, match.deal.first) == (number, deal["dealer"], deal["first"])
        for entry in deal["auction"]:
            match = match.act(entry["player"], parse_action(action_text(entry)), source, 0)
        match = match.act(deal["caller"], Call(parse_card(deal["called"])), source, 0)
        for card in deal["plays"]:
            assert match.phase is Phase.PLAY
            match = match.act(match.deal.to_move, Play(parse_card(card)), source, 0)
        contract = match.summaries[number - 1].contract
        assert (contract.caller, str(contract.called), contract.target) == (
            deal["caller"],
            deal["called"],
            deal["target"],
        )
        assert match.summaries[number - 1].patta == (deal["outcome"] == "patta")
    assert match.is_over
    last = vector["deals"][-1]
    result = match.result
    assert ("calling", "others")[result.winner] == vector["winner"]
    assert list(result.teams[result.winner]) == vector["winning_seats"]
    assert result.scores == (last["calling_points"], last["other_points"])
    assert list(result.points) == last["per_player"]
    assert len(result.deals) == len(vector["deals"])


def test_every_seat_acknowledges_before_the_next_deal():
    match, source = between_deals()
    assert match.phase is Phase.ACKNOWLEDGE
    assert (match.waiting_for, match.deadline) == ((0, 1), 110)
    assert match.legal_actions(1) == (Ack(1),)
    match = match.act(1, Ack(1), source, 105)
    assert (match.waiting_for, match.deadline) == ((0,), 110)
    assert match.legal_actions(1) == ()
    match = match.act(0, Ack(0), source, 108)
    assert (len(match.deals), match.dealer, match.phase, match.deadline) == (2, 1, Phase.PLAY, 138)
    assert match.waiting_for == (0,)


def test_the_next_deal_does_not_wait_for_ever():
    match, source = between_deals()
    match = match.act(0, Ack(0), source, 105)
    assert match.tick(source, 109.9) is match
    match = match.tick(source, 110)
    assert (len(match.deals), match.phase, match.acknowledged, match.deadline) == (2, Phase.PLAY, (), 140)


def test_refusals_between_deals():
    match, source = between_deals()
    match = match.act(1, Ack(1), source, 105)
    with pytest.raises(WrongPhase, match="acknowledge the one that is over"):
        match.act(0, Play(Card.B1), source, 105)
    with pytest.raises(NotYourTurn, match="seat 0 cannot acknowledge for seat 1"):
        match.act(0, Ack(1), source, 105)
    with pytest.raises(WrongPhase, match="acknowledged this deal already"):
        match.act(1, Ack(1), source, 105)
    with pytest.raises(UnknownSeat):
        match.act(2, Ack(2), source, 105)


def test_refusals_during_a_deal_and_after_the_match():
    source = SeededSource(bytes(32))
    match = Match.start(Terms("two-player"), source, 0)
    assert match.deal.to_move == 1
    with pytest.raises(NotYourTurn):
        match.act(0, Play(match.deal.hands[0][0]), source, 0)
    with pytest.raises(WrongPhase, match="'ack 1' has no place here"):
        match.act(1, Ack(1), source, 0)
    with pytest.raises(UnknownSeat):
        match.legal_actions(2)
    over = to_the_end(match, source)
    with pytest.raises(GameOver, match="the match is over"):
        over.act(0, Ack(0), source, 0)


@pytest.mark.parametrize(
    "now", [float("nan"), float("inf"), True, "12", None, 10**5000], ids=lambda value: type(value).__name__
)
def test_what_is_no_clock_reading(now):
    match, source = between_deals()
    for call in (
        lambda: Match.start(Terms("two-player"), source, now),
        lambda: match.act(0, Ack(0), source, now),
        lambda: match.tick(source, now),
    ):
        with pytest.raises(ValueError, match="is no clock reading"):
            call()


def test_an_action_after_the_deadline_counts_unless_the_clock_was_read_first():
    source = SeededSource(bytes(32))
    match = Match.start(Terms("two-player", turn_timeout=30), source, 0)
    late = match.act(1, Play(match.deal.hands[1][2]), source, 31)
    assert (late.deal.to_move, late.deadline) == (0, 61)
    ticked = match.tick(source, 31)
    with pytest.raises(NotYourTurn):
        ticked.act(1, Play(match.deal.hands[1][2]), source, 31)


def test_one_reading_of_the_clock_acts_once_however_late():
    source = SeededSource(bytes(32))
    match = Match.start(Terms("partnership", turn_timeout=30), source, 0)
    late = match.tick(source, 3600)
    assert (len(late.deal.actions), late.deadline) == (1, 3630)
    assert late.tick(source, 3629) is late


def test_without_a_timeout_the_match_waits():
    source = SeededSource(bytes(32))
    match = Match.start(Terms("chiamata"), source, 0)
    assert match.deadline is None
    assert match.tick(source, 10**9) is match


def test_a_chiamata_that_all_five_have_left():
    """Four pass, the dealer bids the ace, an ace is called by chance, all cards are thrown away."""
    source = SeededSource(bytes(range(32)))
    match = Match.start(Terms("chiamata", first_dealer=2, turn_timeout=20), source, 0)
    match = ticked_to_the_end(match, source)
    deal = match.deals[0]
    assert deal.actions[:5] == (Pass(), Pass(), Pass(), Pass(), Bid(Rank.ACE))
    assert deal.auction.bidder == 2
    assert deal.called.rank is Rank.ACE
    assert deal.actions[5] == source.choose(0, [Call(card) for card in (Card.B1, Card.C1, Card.D1, Card.S1)])
    assert len(deal.actions) == 46


@every_variant
@settings(max_examples=6, deadline=None)
@given(seed=SEEDS)
def test_any_match_ends_and_is_the_same_when_played_again(variant, seed):
    states = list(random_match(variant, seed))
    assert list(random_match(variant, seed)) == states
    *before, last = states
    assert all(not state.is_over and state.waiting_for and state.result is None for state in before)
    assert last.waiting_for == ()
    result = last.result
    assert sum(result.points) == sum(result.scores)
    assert sum(result.points) == 120 * sum(not deal.patta for deal in result.deals)
    for team, score in zip(result.teams, result.scores, strict=True):
        assert sum(result.points[seat] for seat in team) == score
    assert [deal.dealer for deal in result.deals] == [
        (last.terms.first_dealer + number) % last.terms.seats for number in range(len(result.deals))
    ]
    if variant != "chiamata":
        assert result.scores[result.winner] == max(result.scores) >= last.terms.target_score
