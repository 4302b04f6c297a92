"""The one shape of every variant: a frozen state that knows who moves, what is legal and what follows.

A state is its deal and the actions since; everything else in it is derived. Its JSON holds just that, so a
saved state is read by replaying it, and one that no legal play leads to cannot be read at all.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from app.briscola.action import Action, parse_action
from app.briscola.cards import DECK, Card, parse_card
from app.briscola.errors import (
    BriscolaError,
    GameOver,
    MalformedCard,
    MalformedState,
    NotYourTurn,
    UnknownSeat,
    shown,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.briscola.observation import Json, Observation


@dataclass(frozen=True, slots=True)
class Outcome:
    """How it ended: seats and card points of each side, and the side that won (None: a draw)."""

    sides: tuple[tuple[int, ...], ...]
    points: tuple[int, ...]
    winner: int | None


@dataclass(frozen=True, slots=True)
class State(ABC):
    """A deal of one variant at one moment.

    Attributes:
        deck: the forty cards as shuffled; `start` says who gets which.
        first: the seat dealt first, which leads (or bids) first; the dealer sits before it.
        actions: everything done since the deal.
        to_move: the seat to act, None when nobody is.
    """

    variant: ClassVar[str]
    seats: ClassVar[int]

    deck: tuple[Card, ...]
    first: int
    actions: tuple[Action, ...]
    to_move: int | None

    @classmethod
    @abstractmethod
    def start(cls, deck: Sequence[Card], first: int = 0) -> Self:
        """Deal `deck` one card at a time, beginning with seat `first`.

        Raises:
            MalformedState: not the forty cards, or no such seat.
        """

    @property
    @abstractmethod
    def outcome(self) -> Outcome | None:
        """How it ended, or None while it has not."""

    @property
    def is_over(self) -> bool:
        """Whether nothing can be done any more."""
        return self.to_move is None

    @abstractmethod
    def legal_actions(self) -> tuple[Action, ...]:
        """What the seat to move may do, hand order first; empty when nobody is to move."""

    @abstractmethod
    def apply(self, action: Action) -> Self:
        """The state after the seat to move has done `action`.

        Raises:
            IllegalAction: the rules forbid it; the message says why.
        """

    @abstractmethod
    def observation(self, seat: int) -> Observation:
        """What `seat` may know now.

        Raises:
            UnknownSeat: no such seat.
        """

    def act(self, seat: int, action: Action) -> Self:
        """`apply` for a caller that names itself: also refuses an action out of turn.

        Raises:
            UnknownSeat: no such seat.
            GameOver: nothing can be done any more.
            NotYourTurn: another seat is to move.
            IllegalAction: whatever `apply` refuses.
        """
        self.check_seat(seat)
        if self.is_over:
            raise GameOver("the game is over")
        if seat != self.to_move:
            raise NotYourTurn(f"it is the turn of seat {self.to_move}, not of seat {seat}")
        return self.apply(action)

    def check_seat(self, seat: int) -> None:
        """Refuse a seat that is not at this table, with `UnknownSeat`."""
        if type(seat) is not int or seat not in range(self.seats):
            raise UnknownSeat(f"no seat {shown(seat)}: the seats are 0 to {self.seats - 1}")

    def to_json(self) -> dict[str, Json]:
        """`{"variant", "deck", "first", "actions"}`, cards and actions as text."""
        return {
            "variant": self.variant,
            "deck": [str(card) for card in self.deck],
            "first": self.first,
            "actions": [str(action) for action in self.actions],
        }

    @classmethod
    def from_json(cls, value: object) -> Self:
        """The state that `to_json` wrote, by dealing and replaying it.

        Raises:
            MalformedState: any other value; the message says what is wrong with it.
        """
        if not isinstance(value, dict) or value.keys() != {"variant", "deck", "first", "actions"}:
            raise MalformedState("a saved state has variant, deck, first and actions, nothing else")
        if value["variant"] != cls.variant:
            raise MalformedState(f"expected the variant {cls.variant}, not {shown(value['variant'])}")
        deck, first, actions = value["deck"], value["first"], value["actions"]
        if not isinstance(deck, list) or not isinstance(actions, list):
            raise MalformedState("deck and actions are lists of texts")
        try:
            cards = [parse_card(card) for card in deck]
        except MalformedCard as error:
            raise MalformedState(f"deck: {error}") from error
        state = cls.start(cards, first)
        for number, action in enumerate(actions, 1):
            try:
                state = state.apply(parse_action(action))
            except BriscolaError as error:
                raise MalformedState(f"action {number}: {error}") from error
        return state


def check_deal(deck: Sequence[Card], first: int, seats: int) -> tuple[Card, ...]:
    """`deck` as a tuple, once it is known to be the forty cards and `first` a seat.

    Raises:
        MalformedState: it is not.
    """
    if len(deck) != len(DECK) or len(set(deck)) != len(DECK):
        raise MalformedState("a deck is the forty cards, each once")
    if type(first) is not int or first not in range(seats):
        raise MalformedState(f"no seat {shown(first)} to lead: the seats are 0 to {seats - 1}")
    return tuple(deck)
