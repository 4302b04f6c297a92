"""Two players (seed 000): three cards each, a face-up briscola under a stock of 34, twenty tricks.

There is no duty to follow suit. After each of the first 17 tricks its winner draws, then the other; the
face-up card comes last. More than 60 of the 120 points wins, 60-60 is a draw.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, ClassVar

from app.briscola.action import PLAYS, Action, Play
from app.briscola.errors import CardNotInHand, GameOver, WrongPhase
from app.briscola.game import Outcome, State, check_deal
from app.briscola.observation import Observation, Public
from app.briscola.trick import POWER

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.briscola.cards import Card, Suit


@dataclass(frozen=True, slots=True)
class TwoPlayer(State):
    """A two-player hand at one moment.

    Attributes:
        trump: the suit of the face-up card.
        stock: what is left to draw, in order, the face-up card last.
        hands: the cards of seats 0 and 1, in the order they came.
        leader: the seat that led, or is to lead, the trick on the table.
        led: the card on the table, None when a trick begins.
        points: card points taken by seats 0 and 1.
    """

    variant: ClassVar[str] = "two-player"
    seats: ClassVar[int] = 2

    trump: Suit
    stock: tuple[Card, ...]
    hands: tuple[tuple[Card, ...], tuple[Card, ...]]
    leader: int
    led: Card | None
    points: tuple[int, int]

    @classmethod
    def start(cls, deck: Sequence[Card], first: int = 0) -> TwoPlayer:
        """Cards 1, 3, 5 of the deck to `first`, 2, 4, 6 to the other; card 7 is turned up, the rest drawn.

        Raises:
            MalformedState: not the forty cards, or no such seat.
        """
        deck = check_deal(deck, first, cls.seats)
        leader, other, face_up = deck[0:6:2], deck[1:6:2], deck[6]
        hands = (leader, other) if first == 0 else (other, leader)
        return cls(deck, first, (), first, face_up.suit, (*deck[7:], face_up), hands, first, None, (0, 0))

    @property
    def face_up(self) -> Card:
        """The card turned up after the deal."""
        return self.deck[6]

    @property
    def outcome(self) -> Outcome | None:
        """Points and winner once all twenty tricks are played."""
        if self.to_move is not None:
            return None
        mine, theirs = self.points
        winner = None if mine == theirs else int(theirs > mine)
        return Outcome(sides=((0,), (1,)), points=self.points, winner=winner)

    def legal_actions(self) -> tuple[Action, ...]:
        """Any card of the hand."""
        if self.to_move is None:
            return ()
        return tuple([PLAYS[card] for card in self.hands[self.to_move]])

    def apply(self, action: Action) -> TwoPlayer:
        """Play a card; the second one ends the trick, pays it out, and both draw.

        Raises:
            GameOver: all twenty tricks are played.
            WrongPhase: the action is no play.
            CardNotInHand: the card is not in the hand of the seat to move.
        """
        seat = self.to_move
        if seat is None:
            raise GameOver("all twenty tricks are played")
        if not isinstance(action, Play):
            raise WrongPhase(f"{str(action)!r} has no place here: two-player hands know plays only")
        card = action.card
        hand = self.hands[seat]
        if card not in hand:
            raise CardNotInHand(f"{card} is not in the hand of seat {seat}")
        at = hand.index(card)
        hand = hand[:at] + hand[at + 1 :]
        other = self.hands[1 - seat]
        actions = (*self.actions, action)
        led = self.led
        if led is None:
            hands = (other, hand) if seat else (hand, other)
            return TwoPlayer(
                self.deck,
                self.first,
                actions,
                1 - seat,
                self.trump,
                self.stock,
                hands,
                seat,
                card,
                self.points,
            )
        power = POWER[self.trump][led.suit]
        taker = seat if power[card] > power[led] else 1 - seat
        stock = self.stock
        if stock:
            mine, theirs = (0, 1) if taker == seat else (1, 0)
            hand, other, stock = (*hand, stock[mine]), (*other, stock[theirs]), stock[2:]
        hands = (other, hand) if seat else (hand, other)
        won = led.points + card.points
        zero, one = self.points
        points = (zero, one + won) if taker else (zero + won, one)
        to_move = taker if hand else None
        return TwoPlayer(
            self.deck, self.first, actions, to_move, self.trump, stock, hands, taker, None, points
        )

    def observation(self, seat: int) -> Observation:
        """The own hand, the table, the face-up card, the points and every play so far.

        Raises:
            UnknownSeat: no such seat.
        """
        self.check_seat(seat)
        zero, one = self.hands
        public = Public(
            variant=self.variant,
            first=self.first,
            to_move=self.to_move,
            trump=self.trump,
            face_up=self.face_up,
            stock_left=len(self.stock),
            leader=self.leader,
            table=() if self.led is None else (self.led,),
            hand_sizes=(len(zero), len(one)),
            points=self.points,
            actions=self.actions,
        )
        legal = self.legal_actions() if seat == self.to_move else ()
        return Observation(public, seat, self.hands[seat], legal)
