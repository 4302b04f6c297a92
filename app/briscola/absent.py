"""What is done for a seat that lets its time run out (seed 003)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.briscola.action import PLAYS, Action, Bid, Call, Pass
from app.briscola.cards import Rank
from app.briscola.opponent import throwaway_weight

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from app.briscola.observation import Observation


def automatic_action(observation: Observation, choose: Callable[[Sequence[Action]], Action]) -> Action:
    """Pass; the ace for the last one standing; one of the four calls by `choose`; else the lowest throwaway.

    `observation` is that of the seat to move.
    """
    legal = observation.legal_actions
    trump = observation.public.trump
    if Pass() in legal:
        return Pass()
    if isinstance(legal[0], Call):
        return choose(legal)
    if trump is None:
        return Bid(Rank.ACE)
    return PLAYS[min(observation.hand, key=lambda card: throwaway_weight(card, trump))]
