"""The inner game of the search: a two-player hand on plain integers, as fast as Python plays it.

A card's code is 10 x suit + rank, with the suits relabelled so that briscola is always suit 3: one set of
tables then serves every hand. Both sides play by one plain rule of thumb while there is a stock, and
perfectly afterwards, when each knows the other's cards. Every value is points of the leader less the other's.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.briscola.cards import DECK, Rank, Suit

if TYPE_CHECKING:
    from collections.abc import Sequence

_TRUMP = 30
_POINTS = [rank.points for rank in Rank] * 4


def _codes(trump: Suit) -> tuple[int, ...]:
    swap = {trump: Suit.SPADE, Suit.SPADE: trump}
    return tuple(10 * swap.get(card.suit, card.suit) + card.rank for card in DECK)


CODES = tuple(_codes(trump) for trump in Suit)
"""`CODES[trump][card]`: the code of a card; briscola and spade change places."""


def _takes(led: int, reply: int) -> bool:
    return reply > led if led // 10 == reply // 10 else reply >= _TRUMP


TAKES = [[_takes(led, reply) for reply in range(40)] for led in range(40)]
"""`TAKES[led][reply]`: whether the reply takes the trick."""

GAIN = [
    [(_POINTS[led] + _POINTS[reply]) * (-1 if TAKES[led][reply] else 1) for reply in range(40)]
    for led in range(40)
]
"""`GAIN[led][reply]`: the points of the trick, negative where the reply takes them."""

# The rule of thumb, in points and by rank from two to ace. KEEP: what a card is still good for in hand.
# RISK: what leading it is likely to cost. LEADING: what it costs to be the one who leads the next trick.
_KEEP_PLAIN = (0.0, 0.1, 0.2, 0.3, 0.4, 1.0, 1.5, 2.0, 2.0, 3.0)
_KEEP_TRUMP = (6.0, 6.1, 6.2, 6.3, 6.5, 7.0, 7.5, 8.0, 11.0, 15.0)
_RISK_PLAIN = (0.0, 0.1, 0.2, 0.3, 0.4, 2.0, 3.0, 4.0, 12.0, 13.0)
_RISK_TRUMP = (6.0, 6.1, 6.2, 6.4, 7.0, 9.0, 10.0, 11.0, 20.0, 20.0)
_LEADING = 2.5
_KEEP = _KEEP_PLAIN * 3 + _KEEP_TRUMP

LEAD = [-risk for risk in _RISK_PLAIN * 3 + _RISK_TRUMP]
"""`LEAD[card]`: how good a lead it is, in points; the best is led."""

REPLY = [
    [-GAIN[led][card] - _KEEP[card] - (_LEADING if TAKES[led][card] else 0) for card in range(40)]
    for led in range(40)
]
"""`REPLY[led][card]`: how good a reply it is, in points; the best is played."""


def playout(leader: list[int], other: list[int], stock: Sequence[int], drawn: int = 0) -> int:
    """Play on from a trick's start with three cards in each hand, `drawn` cards of `stock` being gone.

    The hands are used up.
    """
    lead, takes, gain, replies = LEAD, TAKES, GAIN, REPLY
    total, sign = 0, 1
    for at in range(drawn, len(stock), 2):
        # `max` with a key would read better and take twice the time.
        x, y, z = leader
        i, led = (0, x) if lead[x] >= lead[y] else (1, y)
        if lead[z] > lead[led]:
            i, led = 2, z
        reply = replies[led]
        x, y, z = other
        j, card = (0, x) if reply[x] >= reply[y] else (1, y)
        if reply[z] > reply[card]:
            j, card = 2, z
        total += sign * gain[led][card]
        if takes[led][card]:
            leader[i], other[j] = stock[at + 1], stock[at]
            leader, other, sign = other, leader, -sign
        else:
            leader[i], other[j] = stock[at], stock[at + 1]
    return total + sign * solve(leader, other)


def solve(leader: Sequence[int], other: Sequence[int]) -> int:
    """The value of up to three tricks without a stock, both hands open and both sides perfect."""
    match len(leader):
        case 3:
            return _solve3(leader, other)
        case 2:
            return _solve2(leader[0], leader[1], other[0], other[1])
        case 1:
            return GAIN[leader[0]][other[0]]
        case _:
            return 0


def _solve3(leader: Sequence[int], other: Sequence[int]) -> int:
    a, b, c = leader
    x, y, z = other
    best = -120
    for led, p, q in ((a, b, c), (b, a, c), (c, a, b)):
        gain, takes = GAIN[led], TAKES[led]
        worst = 120
        for reply, r, s in ((x, y, z), (y, x, z), (z, x, y)):
            rest = -_solve2(r, s, p, q) if takes[reply] else _solve2(p, q, r, s)
            if gain[reply] + rest < worst:
                worst = gain[reply] + rest
                if worst <= best:
                    break
        else:
            best = worst
    return best


def _solve2(a: int, b: int, x: int, y: int) -> int:
    best = -120
    for led, last in ((a, b), (b, a)):
        gain, takes = GAIN[led], TAKES[led]
        value = gain[x] + (-GAIN[y][last] if takes[x] else GAIN[last][y])
        with_y = gain[y] + (-GAIN[x][last] if takes[y] else GAIN[last][x])
        if with_y < value:
            value = with_y
        if value > best:
            best = value
    return best
