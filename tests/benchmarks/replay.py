"""Transcripts replayed and verified per second of one core, beside what that cannot do without.

Run with `python -m tests.benchmarks.replay`. The limit is measured in the same rounds: the bare signature
checks of the four events in each transcript, and the bare replay of its hand by the rules with the
computer's choices.
"""

from __future__ import annotations

import random
import statistics
import time
from dataclasses import dataclass
from typing import TYPE_CHECKING

from coincurve import PublicKeyXOnly

from app.matches.commitment import Secrets
from app.matches.match import Match, Side
from app.matches.replay import verify_transcript
from tests.matches.made import APP, PLAYER, Made, made

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.nostr.event import Event

BOUND = 500
MATCHES = 100
ROUNDS = 9
MASTER_MATCHES = 4
KEYS = {key.pubkey: PublicKeyXOnly(bytes.fromhex(key.pubkey)) for key in (APP, PLAYER)}


@dataclass(frozen=True)
class Case:
    """A match with the event of its transcript, and that event as text."""

    made: Made
    event: Event
    text: str


def prepared(level: str, count: int) -> list[Case]:
    """As many matches, each of its own deal."""
    chance = random.Random(level)
    cases = []
    for _ in range(count):
        match = made(level, hidden=Secrets(chance.randbytes(32), chance.randbytes(32)))
        event = match.event
        cases.append(Case(match, event, event.to_json()))
    return cases


def rate(action: Callable[[Case], object], cases: list[Case]) -> float:
    """Matches per second of processor time."""
    began = time.process_time()
    for case in cases:
        action(case)
    return len(cases) / (time.process_time() - began)


def signatures(case: Case) -> None:
    """The four signatures, keys parsed once."""
    transcript = case.made.transcript
    assert transcript.score_event is not None
    for event in (case.event, transcript.commitment_event, transcript.statement, transcript.score_event):
        assert KEYS[event.pubkey].verify(bytes.fromhex(event.sig), bytes.fromhex(event.id))


def rules(case: Case) -> None:
    """The hand dealt and played, each of the computer's cards chosen again."""
    transcript = case.made.transcript
    again = Match.deal(transcript.terms, transcript.secrets.server_seed, transcript.client_seed)
    for side, card in transcript.plays:
        assert side is Side.PLAYER or again.choice() is card
        again = again.after(card)


def whole(case: Case) -> None:
    """From text to verdict."""
    assert verify_transcript(case.text, APP.pubkey).ok


def main() -> None:
    """Measure and print."""
    for level in ("gentle", "normal", "sharp"):
        cases = prepared(level, MATCHES)
        rounds = [[rate(action, cases) for action in (whole, signatures, rules)] for _ in range(ROUNDS)]
        ours = statistics.median(mine for mine, *_ in rounds)
        of_limit = statistics.median(mine * (1 / bare + 1 / played) for mine, bare, played in rounds)
        print(
            f"{level}: {ours:.0f} transcripts a second and core (bound {BOUND}), "
            f"{of_limit:.2f} of bare signatures and bare replay together"
        )
    cases = prepared("master", MASTER_MATCHES)
    print(f"master: {rate(whole, cases):.1f} transcripts a second and core, its choices included")


if __name__ == "__main__":
    main()
