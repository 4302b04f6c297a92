"""Matches that tests start from: those of the vectors, one between two deals, any at random."""

from app.briscola.action import Play
from app.briscola.cards import parse_card
from app.briscola.match import Match
from app.briscola.shuffle import RandomSource
from app.briscola.source import SeededSource
from app.briscola.terms import Terms
from app.briscola.variants import VARIANTS
from tests.vectors import load

FOUR = load("briscola_four.json")
PLAYED = {match["name"]: match for match in FOUR["matches"] + FOUR["two_player_matches"]}
CHIAMATE = {match["name"]: match for match in load("chiamata.json")["matches"]}


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


def between_deals():
    """A two-player match after its first deal, a patta, with 10 seconds for acknowledgements, at 100."""
    vector = PLAYED["match2-001"]
    source = decks_of(vector)
    terms = Terms("two-player", first_dealer=vector["first_dealer"], turn_timeout=30, hand_ack_timeout=10)
    match = Match.start(terms, source, 50)
    for card in vector["deals"][0]["plays"]:
        match = match.act(match.deal.to_move, Play(parse_card(card)), source, 100)
    return match, source


def to_the_end(match, source, now=0):
    """First legal action of whoever is waited for, until the match is over."""
    while not match.is_over:
        seat = match.waiting_for[0]
        match = match.act(seat, match.legal_actions(seat)[0], source, now)
    return match


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
