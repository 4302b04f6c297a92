"""The auction of five-player chiamata (seed 003): ranks downwards and, once the two is bid, points upwards.

Every bid is public and the auction knows no cards, so that it stands alone as a small frozen value.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

from app.briscola.action import RAISES, Action, Bid, Pass, Raise
from app.briscola.cards import Rank
from app.briscola.errors import BidTooHigh, MustBid, WrongPhase, WrongRaise

SEATS = 5
PLAIN_TARGET = 61
"""Points the calling side must reach unless a raise has lifted the target."""

_LADDER: tuple[Action, ...] = tuple(Bid(rank) for rank in sorted(Rank, reverse=True))
_PASS = Pass()


@dataclass(frozen=True, slots=True)
class Auction:
    """Where the bidding stands.

    Attributes:
        turn: the seat that speaks next, None once the auction is over.
        active: the seats that have not passed, in seat order.
        standing: the last bid, None before the first.
        bidder: the seat that made it; the winner once the auction is over.
    """

    turn: int | None
    active: tuple[int, ...]
    standing: Bid | Raise | None
    bidder: int | None

    @classmethod
    def open(cls, first: int) -> Auction:
        """Nobody has spoken; seat `first`, the one after the dealer, begins."""
        return cls(first, tuple(range(SEATS)), None, None)

    @property
    def is_over(self) -> bool:
        """Whether one player is left and has bid."""
        return self.turn is None

    @property
    def won(self) -> Rank | None:
        """The rank to call once the auction is over: the two, however far it was raised."""
        if self.turn is not None or self.standing is None:
            return None
        return Rank.TWO if isinstance(self.standing, Raise) else self.standing.rank

    @property
    def target(self) -> int:
        """Points the calling side must reach as the bidding stands."""
        return self.standing.points if isinstance(self.standing, Raise) else PLAIN_TARGET

    def legal_actions(self) -> tuple[Action, ...]:
        """What the seat to speak may do: pass unless it is the last, then bids from the dearest rank down."""
        if self.is_over:
            return ()
        passing: tuple[Action, ...] = (_PASS,) if len(self.active) > 1 else ()
        match self.standing:
            case None:
                return passing + _LADDER
            case Raise() | Bid(Rank.TWO):
                points = self._next_raise()
                return passing + ((Raise(points),) if points in RAISES else ())
            case Bid(rank):
                return passing + _LADDER[len(_LADDER) - rank :]

    def apply(self, action: Action) -> Auction:
        """The auction after the seat to speak has done this.

        Raises:
            WrongPhase: the auction is over, it is no bid and no pass, or points are bid before the two.
            MustBid: the last player standing passes.
            BidTooHigh: the rank is not lower than the one that stands.
            WrongRaise: the points are not the next ones.
        """
        if self.turn is None:
            raise WrongPhase("the auction is over")
        if action not in self.legal_actions():
            raise self._refusal(action)
        seat = self.turn
        if isinstance(action, Bid | Raise):
            after = replace(self, standing=action, bidder=seat)
        else:
            after = replace(self, active=tuple(s for s in self.active if s != seat))
        if len(after.active) == 1 and after.standing is not None:
            return replace(after, turn=None)
        return replace(after, turn=min(after.active, key=lambda s: (s - seat - 1) % SEATS))

    def _next_raise(self) -> int:
        return self.standing.points + 2 if isinstance(self.standing, Raise) else RAISES.start

    def _refusal(self, action: Action) -> WrongPhase | MustBid | BidTooHigh | WrongRaise:
        match action, self.standing:
            case Pass(), _:
                return MustBid("the last player standing cannot pass: bid any rank")
            case Bid(), Raise(points):
                return BidTooHigh(f"{points} points stand: only points can be bid now")
            case Bid(rank), Bid(standing):
                return BidTooHigh(f"{rank.english} is not lower than the {standing.english} that stands")
            case Raise(), Raise(120):
                return WrongRaise("all 120 points stand: nothing is left but to pass")
            case Raise(points), Raise() | Bid(Rank.TWO):
                return WrongRaise(f"{points} is not the next raise: bid {self._next_raise()} points or pass")
            case Raise(), _:
                return WrongPhase("points can be bid only once the two stands")
            case _:
                return WrongPhase(f"'{action}' does not belong to the auction: bid or pass")
