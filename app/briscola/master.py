"""The strongest computer player of two-player briscola: a search over what the hidden cards may be.

It samples worlds (the other hand and the order of the stock) that agree with its observation, plays each of
its cards in every one of them and lets `playout` finish the hand. It leaves the card of the rule of thumb
only for one that does better beyond the doubt of the sample. Where there are no more worlds than its budget
it looks at all of them, and once the stock is empty there is one, so that its play is exact. It is told
nothing of how any opponent plays.

The same seed, observation and budget give the same card, so a game can be replayed.
"""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import sha256
from itertools import permutations
from math import exp, perm
from random import Random
from typing import TYPE_CHECKING

from app.briscola.action import PLAYS, Play
from app.briscola.cards import DECK
from app.briscola.errors import NotYourTurn
from app.briscola.playout import CODES, GAIN, LEAD, REPLY, TAKES, playout
from app.briscola.two_player import TwoPlayer

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from app.briscola.observation import Observation

WORLDS = 300
"""The usual budget: some 10 ms for the longest move on one core."""

# Standard errors by which a card must be ahead. A playout is a guess with errors of its own, which more
# worlds would not remove, so small leads are worth little.
_DOUBT = 2

# What a final difference of points is worth, in millionths of a win. The soft slope tells the search that a
# playout is a guess, and that more points make a win likelier; whole numbers add up alike on every machine.
_WORTH = {points: round(1_000_000 / (1 + exp(-points / 20))) for points in range(-120, 121)}

World = tuple[list[int], list[int]]
"""The other hand, and the stock in the order drawn."""


def choose(observation: Observation, seed: bytes, worlds: int = WORLDS) -> Play:
    """The play for `observation.seat`, which is to move in a two-player hand.

    Raises:
        NotYourTurn: another seat is to move, or it is another variant.
    """
    public, seat, hand = observation.public, observation.seat, observation.hand
    if public.variant != TwoPlayer.variant or public.to_move != seat or public.trump is None:
        raise NotYourTurn(f"seat {seat} is not to move in a two-player hand")
    code = CODES[public.trump]
    led = code[public.table[0]] if public.table else None
    lead = public.points[seat] - public.points[1 - seat]
    cards = [code[card] for card in hand]
    rule = LEAD if led is None else REPLY[led]
    thumb = max(range(len(cards)), key=lambda i: rule[cards[i]])

    hidden = _Hidden.of(observation, code)
    sampled = hidden.worlds > worlds
    random = Random(sha256(seed + b"master %d" % len(public.actions)).digest())  # noqa: S311 - no secret
    edges, squares = [0] * len(cards), [0] * len(cards)
    for other, stock in hidden.sample(random, worlds) if sampled else hidden.every():
        worth = [
            _WORTH[lead + _value(card, led, cards[:i] + cards[i + 1 :], other, stock)]
            for i, card in enumerate(cards)
        ]
        for i, value in enumerate(worth):
            edge = value - worth[thumb]
            edges[i] += edge
            squares[i] += edge * edge
    best = max(range(len(cards)), key=edges.__getitem__)
    doubt = _DOUBT**2 * squares[best] if sampled else 0
    return PLAYS[hand[best if edges[best] ** 2 > doubt else thumb]]


@dataclass(frozen=True, slots=True)
class _Hidden:
    """What an observation leaves open.

    Attributes:
        unseen: the cards that are in the other hand or in the stock.
        held: how many of them the other hand has.
        bottom: the face-up card while it is under the stock.
    """

    unseen: tuple[int, ...]
    held: int
    bottom: tuple[int, ...]

    @classmethod
    def of(cls, observation: Observation, code: Sequence[int]) -> _Hidden:
        """What `observation` leaves open, in the codes of its briscola."""
        public = observation.public
        face_up = (public.face_up,) if public.face_up is not None and public.stock_left else ()
        played = (action.card for action in public.actions if isinstance(action, Play))
        seen = {*observation.hand, *played, *face_up}
        unseen = tuple(code[card] for card in DECK if card not in seen)
        return cls(unseen, public.hand_sizes[1 - observation.seat], tuple(code[card] for card in face_up))

    @property
    def worlds(self) -> int:
        """How many worlds there are: the orders of the stock."""
        return perm(len(self.unseen), len(self.unseen) - self.held)

    def every(self) -> Iterator[World]:
        """Each world once."""
        for drawn in permutations(self.unseen, len(self.unseen) - self.held):
            yield [card for card in self.unseen if card not in drawn], [*drawn, *self.bottom]

    def sample(self, random: Random, count: int) -> Iterator[World]:
        """`count` worlds; only `random.random` is asked, whose numbers every Python gives alike."""
        order = list(self.unseen)
        for _ in range(count):
            place = {card: random.random() for card in order}
            order.sort(key=place.__getitem__)
            yield order[: self.held], [*order[self.held :], *self.bottom]


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
