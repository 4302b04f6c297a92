"""What remains of a deal that is over, and of a match."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.briscola.chiamata import Chiamata

if TYPE_CHECKING:
    from app.briscola.cards import Card
    from app.briscola.game import Outcome, State
    from app.briscola.observation import Json


@dataclass(frozen=True, slots=True)
class Contract:
    """What a chiamata's caller undertook: to reach `target` points with the holder of `called`."""

    caller: int
    called: Card
    target: int

    def to_json(self) -> dict[str, Json]:
        """Every field by name, the card as text."""
        return {"caller": self.caller, "called": str(self.called), "target": self.target}


@dataclass(frozen=True, slots=True)
class DealSummary:
    """What everybody acknowledges after a deal.

    Attributes:
        dealer: the seat that dealt.
        outcome: the sides, their points and the winning one; of a chiamata the calling side first.
        points: card points each seat took.
        contract: what the caller undertook, None but in a chiamata.
    """

    dealer: int
    outcome: Outcome
    points: tuple[int, ...]
    contract: Contract | None

    @classmethod
    def of(cls, deal: State, outcome: Outcome) -> DealSummary:
        """The summary of a deal that is over, with its outcome."""
        contract = None
        if isinstance(deal, Chiamata) and deal.called is not None and deal.auction.bidder is not None:
            contract = Contract(deal.auction.bidder, deal.called, deal.auction.target)
        points = deal.observation(0).public.points
        return cls((deal.first - 1) % deal.seats, outcome, points, contract)

    @property
    def patta(self) -> bool:
        """Whether nobody won: the points are discarded and the deal is played again."""
        return self.outcome.winner is None

    def to_json(self) -> dict[str, Json]:
        """`{"dealer", "sides", "side_points", "winner", "patta", "points", "contract"}`."""
        return {
            "dealer": self.dealer,
            "sides": [list(side) for side in self.outcome.sides],
            "side_points": list(self.outcome.points),
            "winner": self.outcome.winner,
            "patta": self.patta,
            "points": list(self.points),
            "contract": None if self.contract is None else self.contract.to_json(),
        }


@dataclass(frozen=True, slots=True)
class MatchResult:
    """How a match ended.

    Attributes:
        variant: name of the variant.
        teams: the seats of each team; of a chiamata the calling side first.
        winner: the index of the winning team.
        scores: the totals of the teams over the deals that count.
        points: card points each player took in those deals.
        deals: every deal in order, patte included.
    """

    variant: str
    teams: tuple[tuple[int, ...], ...]
    winner: int
    scores: tuple[int, ...]
    points: tuple[int, ...]
    deals: tuple[DealSummary, ...]

    @classmethod
    def of(cls, variant: str, winner: int, deals: tuple[DealSummary, ...]) -> MatchResult:
        """The result that follows from the deals of a match won by team `winner`."""
        counted = [deal for deal in deals if not deal.patta]
        return cls(
            variant=variant,
            teams=deals[-1].outcome.sides,
            winner=winner,
            scores=_sums([deal.outcome.points for deal in counted]),
            points=_sums([deal.points for deal in counted]),
            deals=deals,
        )

    @property
    def summary(self) -> dict[str, Json]:
        """`{"variant", "teams", "winner", "scores", "points", "deals"}`: the result as JSON."""
        return {
            "variant": self.variant,
            "teams": [list(team) for team in self.teams],
            "winner": self.winner,
            "scores": list(self.scores),
            "points": list(self.points),
            "deals": [deal.to_json() for deal in self.deals],
        }


def _sums(rows: list[tuple[int, ...]]) -> tuple[int, ...]:
    return tuple(map(sum, zip(*rows, strict=True)))
