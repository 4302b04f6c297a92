"""What one seat may know: its own hand and what everybody sees. Players choose from this, never from a state.

Every action of every variant is public, and so is the face-up card; only the deal is hidden. A variant with
more to show (an auction, a call) subclasses `Public`.
"""

from __future__ import annotations

from dataclasses import dataclass, fields
from enum import IntEnum
from typing import TYPE_CHECKING

from app.briscola.cards import Card, Rank, Suit

if TYPE_CHECKING:
    from app.briscola.action import Action

Json = dict[str, "Json"] | list["Json"] | str | int | float | bool | None
"""What the standard `json` module writes."""


@dataclass(frozen=True, slots=True)
class Public:
    """What everybody at the table sees.

    Attributes:
        variant: name of the variant.
        first: the seat dealt first, which leads (or bids) first.
        to_move: the seat to act, None when nobody is.
        trump: the suit of briscola, None while it is not known.
        face_up: the card under the stock; still named here when it has been drawn.
        stock_left: cards in the stock, the face-up one included.
        leader: the seat that led (or is to lead) the trick on the table.
        table: the cards of that trick, in the order played.
        hand_sizes: cards in each seat's hand.
        points: card points each seat has taken.
        actions: everything done so far, in order.
    """

    variant: str
    first: int
    to_move: int | None
    trump: Suit | None
    face_up: Card | None
    stock_left: int
    leader: int
    table: tuple[Card, ...]
    hand_sizes: tuple[int, ...]
    points: tuple[int, ...]
    actions: tuple[Action, ...]

    def to_json(self) -> dict[str, Json]:
        """Every field by name; cards and actions as text, suits and ranks by letter."""
        return {field.name: _plain(getattr(self, field.name)) for field in fields(self)}


@dataclass(frozen=True, slots=True)
class Observation:
    """The public part, and what `seat` alone knows.

    `hand` is in the order the cards came: the deal's, then each card drawn. `legal_actions` is empty unless
    `seat` is to move.
    """

    public: Public
    seat: int
    hand: tuple[Card, ...]
    legal_actions: tuple[Action, ...]

    def to_json(self) -> dict[str, Json]:
        """The public fields with `seat`, `hand` and `legal_actions` beside them."""
        return self.public.to_json() | {
            "seat": self.seat,
            "hand": _plain(self.hand),
            "legal_actions": _plain(self.legal_actions),
        }


def _plain(value: object) -> Json:
    if isinstance(value, tuple):
        return [_plain(item) for item in value]
    if value is None or (isinstance(value, int | str) and not isinstance(value, IntEnum)):
        return value
    return value.letter if isinstance(value, Suit | Rank) else str(value)
