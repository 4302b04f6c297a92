"""What two players and four in partnership share: three cards each, a face-up briscola under a stock.

There is no duty to follow suit. Whoever takes a trick draws first; the face-up card comes last. More than 60
of the 120 points wins, 60-60 is a draw.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar, Self

from app.briscola.action import PLAYS, Action, Play
from app.briscola.errors import GameOver, WrongPhase
from app.briscola.game import Outcome, State, check_deal
from app.briscola.observation import Observation, Public
from app.briscola.table import Hands, Table, dealt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.briscola.cards import Card

_HAND = 3


@dataclass(frozen=True, slots=True)
class StockDeal(State):
    """A deal with a stock at one moment; `table` holds the cards, `sides` who plays with whom."""

    sides: ClassVar[tuple[tuple[int, ...], ...]]

    table: Table

    @classmethod
    def start(cls, deck: Sequence[Card], first: int = 0) -> Self:
        """Three cards each, one at a time from `first`; the next card is turned up, the rest drawn before it.

        Raises:
            MalformedState: not the forty cards, or no such seat.
        """
        deck = check_deal(deck, first, cls.seats)
        turned = cls.seats * _HAND
        face_up = deck[turned]
        stock = (*deck[turned + 1 :], face_up)
        table = Table.open(face_up.suit, stock, dealt(deck, first, cls.seats, _HAND), first)
        return cls(deck, first, (), first, table)

    @property
    def face_up(self) -> Card:
        """The card turned up after the deal."""
        return self.deck[self.seats * _HAND]

    @property
    def hands(self) -> Hands:
        """The cards of each seat, in the order they came."""
        return self.table.hands

    @property
    def outcome(self) -> Outcome | None:
        """The points of both sides and the winning one once every card is played."""
        if self.to_move is not None:
            return None
        ours, theirs = (sum(self.table.points[seat] for seat in side) for side in self.sides)
        winner = None if ours == theirs else int(theirs > ours)
        return Outcome(self.sides, (ours, theirs), winner)

    def legal_actions(self) -> tuple[Action, ...]:
        """Any card of the hand."""
        if self.to_move is None:
            return ()
        return tuple([PLAYS[card] for card in self.table.hands[self.to_move]])

    def apply(self, action: Action) -> Self:
        """Play a card; the last one of a trick pays it out, and everybody draws.

        Raises:
            GameOver: every card is played.
            WrongPhase: the action is no play.
            CardNotInHand: the card is not in the hand of the seat to move.
        """
        if self.to_move is None:
            raise GameOver("every card is played")
        if not isinstance(action, Play):
            raise WrongPhase(f"{str(action)!r} has no place here: {self.variant} knows plays only")
        table = self.table.play(self.to_move, action.card)
        return type(self)(self.deck, self.first, (*self.actions, action), table.to_move, table)

    def observation(self, seat: int) -> Observation:
        """The own hand, the trick, the face-up card, the points and every play so far.

        Raises:
            UnknownSeat: no such seat.
        """
        self.check_seat(seat)
        table = self.table
        public = Public(
            variant=self.variant,
            first=self.first,
            to_move=self.to_move,
            trump=table.trump,
            face_up=self.face_up,
            stock_left=len(table.stock),
            leader=table.leader,
            table=table.cards,
            hand_sizes=tuple(map(len, table.hands)),
            points=table.points,
            actions=self.actions,
        )
        legal = self.legal_actions() if seat == self.to_move else ()
        return Observation(public, seat, table.hands[seat], legal)
