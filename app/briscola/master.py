"""The strongest computer player of two-player briscola: a search over what the hidden cards may be.

It samples worlds (the other hand and the order of the stock) that agree with its observation, plays each of
its cards in every one of them, lets `playout` finish the hand, and takes the card with the best average.
When there are no more worlds than its budget it looks at all of them; once the stock is empty there is one,
and its play is exact. It is told nothing of how any opponent plays.

The same seed, observation and budget give the same card, so a game can be replayed.
"""

from __future__ import annotations

from hashlib import sha256
from itertools import permutations
from math import exp, perm
from random import Random
from typing import TYPE_CHECKING

from app.briscola.action import PLAYS, Play
from app.briscola.cards import DECK
from app.briscola.errors import NotYourTurn
from app.briscola.playout import GAIN, REPLY, TAKES, codes, playout
from app.briscola.two_player import TwoPlayer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from app.briscola.observation import Observation

WORLDS = 400
"""The usual budget: under 50 ms a move on one core."""

# What a final difference of points is worth: 1 a sure win, 0.5 a draw. The soft slope tells the search that a
# playout is a guess, and that more points make a win likelier.
_WORTH = {points: 1 / (1 + exp(-points / 20)) for points in range(-120, 121)}

World = tuple[list[int], list[int]]
"""The other hand, and the stock in the order drawn."""


def choose(observation: Observation, seed: bytes, worlds: int = WORLDS) -> Play:
    """The play for `observation.seat`, which is to move in a two-player hand.

    Raises:
        NotYourTurn: another seat is to move, or it is another variant.
    """
    public, seat = observation.public, observation.seat
    if public.variant != TwoPlayer.variant or public.to_move != seat or public.trump is None:
        raise NotYourTurn(f"seat {seat} is not to move in a two-player hand")
    hand = observation.hand
    if len(hand) == 1:
        return PLAYS[hand[0]]
    code = codes(public.trump)
    led = code[public.table[0]] if public.table else None
    lead = public.points[seat] - public.points[1 - seat]
    worth = [0.0] * len(hand)
    cards = [code[card] for card in hand]
    for other, stock in _worlds(observation, code, seed, worlds):
        for i, card in enumerate(cards):
            mine = cards[:i] + cards[i + 1 :]
            worth[i] += _WORTH[lead + _value(card, led, mine, other, stock)]
    return PLAYS[hand[worth.index(max(worth))]]


def _worlds(observation: Observation, code: Sequence[int], seed: bytes, budget: int) -> Iterator[World]:
    """Worlds that agree with the observation: all of them where the budget allows, else a sample."""
    public = observation.public
    seen = {*observation.hand, *(action.card for action in public.actions if isinstance(action, Play))}
    bottom: list[int] = []
    if public.stock_left and public.face_up is not None:
        seen.add(public.face_up)
        bottom = [code[public.face_up]]
    unseen = [code[card] for card in DECK if card not in seen]
    held = public.hand_sizes[1 - observation.seat]
    if perm(len(unseen), len(unseen) - held) <= budget:
        for drawn in permutations(unseen, len(unseen) - held):
            yield [card for card in unseen if card not in drawn], [*drawn, *bottom]
        return
    # Only `random` is asked of this generator: its numbers are the same on every version of Python.
    random = Random(sha256(seed + len(public.actions).to_bytes(4, "big")).digest()).random  # noqa: S311 - no secret
    for _ in range(budget):
        place = {card: random() for card in unseen}
        unseen.sort(key=place.__getitem__)
        yield unseen[:held], unseen[held:] + bottom


def _value(card: int, led: int | None, mine: list[int], other: list[int], stock: list[int]) -> int:
    """My points less theirs from here on, when I play `card` and keep `mine`."""
    if led is not None:
        return -_after(led, card, other, mine, stock)
    if len(stock) > 2:
        reply = max(other, key=REPLY[card].__getitem__)
        return _after(card, reply, mine, [kept for kept in other if kept != reply], stock)
    # After this trick every card is known, so the best reply is too.
    return min(_after(card, reply, mine, [kept for kept in other if kept != reply], stock) for reply in other)


def _after(led: int, reply: int, leader: list[int], other: list[int], stock: list[int]) -> int:
    """The leader's points less the other's: this trick, the draw, and the rest of the hand."""
    taken = TAKES[led][reply]
    first, second = (other, leader) if taken else (leader, other)
    rest = playout([*first, *stock[:1]], [*second, *stock[1:2]], stock, 2)
    return GAIN[led][reply] + (-rest if taken else rest)
