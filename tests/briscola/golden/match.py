"""Whole matches as text: what was done, by whom or for whom, when, and what each deal came to."""

import json
from pathlib import Path

from app.briscola.match import Match
from app.briscola.match_view import Phase
from app.briscola.shuffle import RandomSource
from app.briscola.source import SeededSource
from app.briscola.terms import Terms
from tests.briscola.golden import FOLDER

SEED = bytes(31) + b"\x03"
TERMS = (
    Terms("two-player", 101, turn_timeout=30, hand_ack_timeout=10),
    Terms("partnership", 120, 2, turn_timeout=30, hand_ack_timeout=10),
    Terms("chiamata", first_dealer=4, turn_timeout=30),
)


def match_file(terms: Terms) -> Path:
    """Where the match on these terms is kept."""
    return FOLDER / f"match-{terms.variant}.txt"


def match_playthrough(terms: Terms) -> str:
    """Seat 1 never acts; the others act at random, three seconds after it has come to them."""
    source, chance, now = SeededSource(SEED), RandomSource(SEED, b"golden"), 0.0
    match = Match.start(terms, source, now)
    lines = [json.dumps(terms.to_json()), _dealt(match, now)]
    while not match.is_over:
        before = match
        present = [seat for seat in match.waiting_for if seat != 1]
        if present:
            now += 3
            action = chance.choice(match.legal_actions(present[0]))
            match = match.act(present[0], action, source, now)
            lines.append(f"{now:g} seat {present[0]}: {action}")
        else:
            now = match.deadline
            match = match.tick(source, now)
            done = before.phase is Phase.PLAY and match.deals[len(before.deals) - 1].actions[-1]
            lines.append(f"{now:g} time is up: {done or 'dealt on'}")
        lines += [
            f"{now:g} over: {json.dumps(deal.to_json())}" for deal in match.summaries[len(before.summaries) :]
        ]
        if len(match.deals) > len(before.deals):
            lines.append(_dealt(match, now))
    return "\n".join([*lines, json.dumps(match.result.summary, indent=1)]) + "\n"


def _dealt(match: Match, now: float) -> str:
    deck = " ".join(map(str, match.deal.deck))
    return f"{now:g} deal {len(match.deals)}, dealer {match.dealer}, scores {match.score.totals}: {deck}"
