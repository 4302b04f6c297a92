"""Five-player briscola chiamata (seed 003): the whole deck dealt, an auction, a call, a secret partner.

The winner of the auction calls a card of the rank it won; the suit of that card is trump and whoever holds it
is the partner, unknown to all others until the card is played. A caller who holds it plays alone.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, ClassVar

from app.briscola.action import PLAYS, Action, Bid, Call, Play, Raise
from app.briscola.auction import PLAIN_TARGET, SEATS, Auction
from app.briscola.cards import Suit, card_of
from app.briscola.errors import GameOver, WrongPhase, WrongRank
from app.briscola.game import Outcome, State, check_deal
from app.briscola.observation import Observation, Public
from app.briscola.table import Hands, Table, dealt

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.briscola.cards import Card

_HAND = 8


@dataclass(frozen=True, slots=True)
class ChiamataPublic(Public):
    """What everybody sees of a chiamata.

    Attributes:
        bidding: the seats that have not passed.
        standing: the last bid, None before the first.
        bidder: the seat that made it; once the auction is over, the caller.
        target: points the calling side must reach as the bidding stands.
        called: the called card, None before the call.
        holder: the seat that has played the called card, None until then: the caller's partner, or the
            caller itself, which then plays alone.
    """

    bidding: tuple[int, ...]
    standing: Bid | Raise | None
    bidder: int | None
    target: int
    called: Card | None
    holder: int | None


@dataclass(frozen=True, slots=True)
class Chiamata(State):
    """A chiamata at one moment.

    Attributes:
        auction: the bidding; over as soon as there is a caller.
        called: the called card, None before the call.
        table: the play, None before the call.
    """

    variant: ClassVar[str] = "chiamata"
    seats: ClassVar[int] = SEATS

    auction: Auction
    called: Card | None
    table: Table | None

    @classmethod
    def start(cls, deck: Sequence[Card], first: int = 0) -> Chiamata:
        """Eight cards each, one at a time from `first`, which also bids and leads first.

        Raises:
            MalformedState: not the forty cards, or no such seat.
        """
        deck = check_deal(deck, first, cls.seats)
        return cls(deck, first, (), first, Auction.open(first), None, None)

    @property
    def hands(self) -> Hands:
        """The cards of each seat, in the order dealt."""
        return self.table.hands if self.table else dealt(self.deck, self.first, self.seats, _HAND)

    @property
    def holder(self) -> int | None:
        """The seat dealt the called card, None before the call: a secret until the card is played."""
        return None if self.called is None else (self.first + self.deck.index(self.called)) % self.seats

    @property
    def outcome(self) -> Outcome | None:
        """Calling side first: it must reach its target; 60-60 is a patta at the plain target only."""
        if self.table is None or self.to_move is not None:
            return None
        calling = tuple(seat for seat in range(self.seats) if seat in (self.auction.bidder, self.holder))
        others = tuple(seat for seat in range(self.seats) if seat not in calling)
        ours, theirs = (sum(self.table.points[seat] for seat in side) for side in (calling, others))
        target = self.auction.target
        patta = ours == theirs and target == PLAIN_TARGET
        return Outcome((calling, others), (ours, theirs), None if patta else int(ours < target))

    def legal_actions(self) -> tuple[Action, ...]:
        """Bids and pass; then the four cards that can be called; then any card of the hand."""
        if self.to_move is None:
            return ()
        if self.table:
            return tuple([PLAYS[card] for card in self.table.hands[self.to_move]])
        won = self.auction.won
        if won is None:
            return self.auction.legal_actions()
        return tuple(Call(card_of(suit, won)) for suit in Suit)

    def apply(self, action: Action) -> Chiamata:
        """Bid or pass, then call, then play.

        Raises:
            GameOver: all eight tricks are played.
            WrongPhase: the action belongs to another phase.
            MustBid, BidTooHigh, WrongRaise: what the auction refuses.
            WrongRank: the called card is not of the rank that was won.
            CardNotInHand: the card played is not in the hand of the seat to move.
        """
        if self.to_move is None:
            raise GameOver("all eight tricks are played")
        if self.table:
            return self._after_play(self.to_move, self.table, action)
        won = self.auction.won
        if won is None:
            auction = self.auction.apply(action)
            to_move = auction.bidder if auction.is_over else auction.turn
            return replace(self, actions=(*self.actions, action), to_move=to_move, auction=auction)
        if not isinstance(action, Call):
            raise WrongPhase(f"{str(action)!r} has no place here: the auction is won, call a card")
        called = action.card
        if called.rank is not won:
            raise WrongRank(f"{called} cannot be called: it is no {won.english}, the rank that was won")
        table = Table.open(called.suit, (), self.hands, self.first)
        return replace(self, actions=(*self.actions, action), to_move=self.first, called=called, table=table)

    def _after_play(self, seat: int, table: Table, action: Action) -> Chiamata:
        if not isinstance(action, Play):
            raise WrongPhase(f"{str(action)!r} comes too late: play a card")
        after = table.play(seat, action.card)
        return replace(self, actions=(*self.actions, action), to_move=after.to_move, table=after)

    def observation(self, seat: int) -> Observation:
        """The own hand, the auction, the call, the trick, the points and every action so far.

        Raises:
            UnknownSeat: no such seat.
        """
        self.check_seat(seat)
        hands, table, holder = self.hands, self.table, self.holder
        shown = holder is not None and self.called not in hands[holder]
        public = ChiamataPublic(
            variant=self.variant,
            first=self.first,
            to_move=self.to_move,
            trump=table.trump if table else None,
            face_up=None,
            stock_left=0,
            leader=table.leader if table else self.first,
            table=table.cards if table else (),
            hand_sizes=tuple(map(len, hands)),
            points=table.points if table else (0,) * self.seats,
            actions=self.actions,
            bidding=self.auction.active,
            standing=self.auction.standing,
            bidder=self.auction.bidder,
            target=self.auction.target,
            called=self.called,
            holder=holder if shown else None,
        )
        legal = self.legal_actions() if seat == self.to_move else ()
        return Observation(public, seat, hands[seat], legal)
