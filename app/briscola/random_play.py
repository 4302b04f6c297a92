"""Whole two-player hands of random legal play, as fast as Python plays them: for statistics and speed."""

from __future__ import annotations

from itertools import product
from typing import TYPE_CHECKING

from app.briscola.playout import CODES, GAIN, TAKES

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

_PAIRS = [tuple(product(range(size), repeat=2)) for size in range(4)]


def random_hand(deck: Sequence[int], random: Callable[[], float]) -> tuple[int, int]:
    """Points of the seat that leads first and of the other, each playing any card of its hand.

    `deck` holds the forty cards, or just their places in `DECK`, and is dealt as by `TwoPlayer.start`;
    `random` gives numbers from 0 up to 1, one for each trick.
    """
    code = CODES[deck[6] // 10]
    cards = [code[card] for card in deck]
    leader, other, stock = cards[0:6:2], cards[1:6:2], cards[7:]
    stock.append(cards[6])
    total, sign = 0, 1
    pairs = _PAIRS[3]
    for at in range(0, 34, 2):
        i, j = pairs[int(random() * 9)]
        led, reply = leader[i], other[j]
        total += sign * GAIN[led][reply]
        if TAKES[led][reply]:
            leader[i], other[j] = stock[at + 1], stock[at]
            leader, other, sign = other, leader, -sign
        else:
            leader[i], other[j] = stock[at], stock[at + 1]
    for size in (3, 2, 1):
        i, j = _PAIRS[size][int(random() * size * size)]
        led, reply = leader.pop(i), other.pop(j)
        total += sign * GAIN[led][reply]
        if TAKES[led][reply]:
            leader, other, sign = other, leader, -sign
    return (120 + total) // 2, (120 - total) // 2
