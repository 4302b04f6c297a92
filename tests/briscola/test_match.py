"""Matches against the vectors, deadlines by a clock that tests set, and what holds in any match."""

import json

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from app.briscola.action import Ack, Bid, Call, Pass, Play, parse_action
from app.briscola.cards import Card, Rank, parse_card
from app.briscola.errors import GameOver, MalformedState, NotYourTurn, UnknownSeat, WrongPhase
from app.briscola.match import Match
from app.briscola.match_view import Phase
from app.briscola.shuffle import RandomSource
from app.briscola.source import SeededSource
from app.briscola.terms import Terms
from app.briscola.variants import VARIANTS
from tests.vectors import action_text, load

FOUR = load("briscola_four.json")
PLAYED = {match["name"]: match for match in FOUR["matches"] + FOUR["two_player_matches"]}
CHIAMATE = {match["name"]: match for match in load("chiamata.json")["matches"]}
SEEDS = st.binary(min_size=32, max_size=32)

every_variant = pytest.mark.parametrize("variant", VARIANTS)


class Decks:
    """A source of decks written down beforehand; it decides nothing else."""

    def __init__(self, decks):
        self.decks = [[parse_card(card) for card in deck] for deck in decks]

    def deck(self, deal):
        return self.decks[deal]

    def choose(self, deal, options):
        raise AssertionError("nobody is absent")


def decks_of(match):
    return Decks([deal["deck"] for deal in match["deals"]])


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


def between_deals():
    """A two-player match after its first deal, a patta, with 10 seconds for acknowledgements, at 100."""
    vector = PLAYED["match2-001"]
    source = decks_of(vector)
    terms = Terms("two-player", first_dealer=vector["first_dealer"], turn_timeout=30, hand_ack_timeout=10)
    match = Match.start(terms, source, 50)
    for card in vector["deals"][0]["plays"]:
        match = match.act(match.deal.to_move, Play(parse_card(card)), source, 100)
    return match, source


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


@pytest.mark.parametrize("now", [float("nan"), float("inf"), True, "12", None, 10**400])
def test_what_is_no_clock_reading(now):
    match, source = between_deals()
    for call in (
        lambda: Match.start(Terms("two-player"), source, now),
        lambda: match.act(0, Ack(0), source, now),
        lambda: match.tick(source, now),
    ):
        with pytest.raises(ValueError, match="is no clock reading"):
            call()


def to_the_end(match, source, now=0):
    """First legal action of whoever is waited for, until the match is over."""
    while not match.is_over:
        seat = match.waiting_for[0]
        match = match.act(seat, match.legal_actions(seat)[0], source, now)
    return match


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


def ticked_to_the_end(match, source):
    while not match.is_over:
        match = match.tick(source, match.deadline)
    assert match.deadline is None
    assert match.tick(source, 10**9) is match
    return match


def random_match(variant, seed):
    """Every state of a match in which seats act, acknowledge or let their time run out, all at random."""
    source, chance = SeededSource(seed), RandomSource(seed, b"players")
    target = 61 + chance.randbelow(60) if variant != "chiamata" else 61
    first_dealer = chance.randbelow(VARIANTS[variant].seats)
    now = 1000.5
    match = Match.start(Terms(variant, target, first_dealer, 30, 10), source, now)
    yield match
    while not match.is_over:
        now += chance.randbelow(40)
        due = match.tick(source, now)
        if due is match:
            seat = chance.choice(match.waiting_for)
            due = match.act(seat, chance.choice(match.legal_actions(seat)), source, now)
        match = due
        yield match


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


@every_variant
@settings(max_examples=5, deadline=None)
@given(seed=SEEDS)
def test_json_round_trip_at_every_step(variant, seed):
    for state in random_match(variant, seed):
        again = Match.from_json(json.loads(json.dumps(state.to_json())))
        assert again == state
        for seat in range(state.terms.seats):
            told = state.observation(seat).to_json()
            assert json.loads(json.dumps(told)) == told


def test_a_match_read_back_goes_on_as_if_it_had_never_stopped():
    source = SeededSource(bytes(32))
    match = Match.start(Terms("partnership", 120, turn_timeout=5, hand_ack_timeout=5), source, 0)
    whole = ticked_to_the_end(match, source)
    for _ in range(25):
        match = match.tick(source, match.deadline)
    again = Match.from_json(json.loads(json.dumps(match.to_json())))
    assert ticked_to_the_end(again, SeededSource(bytes(32))) == whole


def saved_between_deals():
    match, source = between_deals()
    return match.act(1, Ack(1), source, 105).to_json()


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"more": 1}, "nothing more"),
        ({"terms": {}}, "terms: terms are an object of variant"),
        ({"deals": []}, "one deal at least"),
        ({"deals": {}}, "one deal at least"),
        ({"deals": [None]}, "deal 1: a saved state has"),
        ({"acknowledged": None}, "acknowledged a list"),
        ({"acknowledged": [0, 1]}, "are not the seats that have acknowledged"),
        ({"acknowledged": [True]}, "are not the seats"),
        ({"acknowledged": [2]}, "are not the seats"),
        ({"acknowledged": [[]]}, "are not the seats"),
        ({"deadline": None}, "there is a deadline if, and only if"),
        ({"deadline": "110"}, "the deadline is '110'"),
        ({"deadline": float("nan")}, "the deadline is nan"),
    ],
)
def test_a_match_that_cannot_be_is_not_read(change, message):
    saved = saved_between_deals()
    Match.from_json(saved)
    with pytest.raises(MalformedState, match=message):
        Match.from_json(saved | change)


def test_deals_that_cannot_follow_each_other_are_not_read():
    saved = saved_between_deals()
    deal = saved["deals"][0]
    started = deal | {"first": 0, "actions": []}
    playing = {"acknowledged": [], "deadline": 1}
    Match.from_json(saved | playing | {"deals": [deal, started]})
    with pytest.raises(MalformedState, match="deal 1: seat 0 is dealt first"):
        Match.from_json(saved | playing | {"deals": [started]})
    with pytest.raises(MalformedState, match="deal 2: seat 1 is dealt first"):
        Match.from_json(saved | playing | {"deals": [deal, started | {"first": 1}]})
    with pytest.raises(MalformedState, match="deal 3: the deal before it is not over"):
        Match.from_json(saved | playing | {"deals": [deal, started, started | {"first": 1}]})
    with pytest.raises(MalformedState, match="are not the seats"):
        Match.from_json(saved | {"deals": [deal, started]})
    won = to_the_end(Match.start(Terms("two-player"), SeededSource(bytes(32)), 0), SeededSource(bytes(32)))
    after_the_end = won.to_json()
    following = len(after_the_end["deals"]) % 2
    after_the_end["deals"].append({**started, "first": 1 - following})
    with pytest.raises(MalformedState, match="or has decided the match"):
        Match.from_json(after_the_end)


def test_a_chiamata_whose_patta_was_not_dealt_again_is_not_read():
    vector = CHIAMATE["chiamata-027"]
    match = to_the_end(Match.start(Terms("chiamata"), SeededSource(bytes(32)), 0), SeededSource(bytes(32)))
    deal = vector["deals"][0]
    actions = [
        *map(action_text, deal["auction"]),
        f"call {deal['called']}",
        *(f"play {c}" for c in deal["plays"]),
    ]
    patta = {"variant": "chiamata", "deck": deal["deck"], "first": 1, "actions": actions}
    with pytest.raises(MalformedState, match="the deal after a patta is missing"):
        Match.from_json(match.to_json() | {"deals": [patta]})


def test_a_target_score_of_another_match_makes_its_deals_impossible():
    """Won at 61, the match would have gone on to 62: then it is saved between deals, not over."""
    vector = PLAYED["match2-006"]
    source = decks_of(vector)
    match = Match.start(Terms("two-player", 61, vector["first_dealer"], 30, 10), source, 0)
    for card in vector["deals"][0]["plays"]:
        match = match.act(match.deal.to_move, Play(parse_card(card)), source, 0)
    saved = match.to_json()
    assert Match.from_json(saved).is_over
    with pytest.raises(MalformedState, match="if, and only if, there is a timeout"):
        Match.from_json(saved | {"terms": saved["terms"] | {"target_score": 62}})


def nested(depth):
    value = []
    for _ in range(depth):
        value = [value]
    return value


def replaced(value, path, new):
    """A copy of a JSON value with `new` at `path`."""
    if not path:
        return new
    copied = value.copy()
    copied[path[0]] = replaced(value[path[0]], path[1:], new)
    return copied


def paths(value):
    """The way to every field of a JSON object and to the first item of every list."""
    items = (
        value.items() if isinstance(value, dict) else enumerate(value[:1] if isinstance(value, list) else [])
    )
    for key, below in items:
        yield (key,)
        yield from ((key, *path) for path in paths(below))


@pytest.mark.parametrize(
    "strange",
    [-1, 1.5, float("inf"), 10**5000, "\ud800", b"1", {"a": 1}, nested(2), nested(100_000), {1}],
    ids=lambda value: type(value).__name__,
)
def test_a_strange_value_in_any_place_is_refused_in_a_few_words(strange):
    saved = saved_between_deals()
    for path in [(), *paths(saved)]:
        if not (path == ("deadline",) and strange in (-1, 1.5)) and "timeout" not in str(path):
            with pytest.raises(MalformedState) as refusal:
                Match.from_json(replaced(saved, path, strange))
            assert 10 < len(str(refusal.value)) < 200


@pytest.mark.parametrize("value", [None, [], 0, "match", {}])
def test_what_is_no_match_at_all(value):
    with pytest.raises(MalformedState):
        Match.from_json(value)
