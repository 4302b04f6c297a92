"""The match over the deals: who deals, when it is won, what happens to those who keep the table waiting.

Two players and four play deals until a side has won; a chiamata is a single deal. In either a patta is dealt
again, and the dealer moves with every deal. Nothing here reads a clock: callers say what time it is.
"""

from __future__ import annotations

from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from app.briscola.absent import automatic_action
from app.briscola.action import Ack, Action
from app.briscola.errors import GameOver, InvalidTerms, MalformedState, NotYourTurn, WrongPhase, shown
from app.briscola.match_view import MatchObservation, Phase
from app.briscola.scoring import Score
from app.briscola.summary import DealSummary, MatchResult
from app.briscola.terms import Terms, is_seconds
from app.briscola.variants import VARIANTS

if TYPE_CHECKING:
    from app.briscola.game import State
    from app.briscola.observation import Json
    from app.briscola.source import Source


@dataclass(frozen=True, slots=True)
class Match:
    """A match at one moment.

    Attributes:
        terms: what it is played on.
        deals: every deal so far, the last of them under way or just over.
        acknowledged: the seats that have acknowledged the deal just over, in seat order.
        deadline: the clock reading from which `tick` acts for absent players, None for never.
    """

    terms: Terms
    deals: tuple[State, ...]
    acknowledged: tuple[int, ...]
    deadline: float | None

    @classmethod
    def start(cls, terms: Terms, source: Source, now: float) -> Match:
        """The first deal, dealt when the clock reads `now` (seconds).

        Raises:
            ValueError: `now` is no clock reading.
        """
        _check_clock(now)
        return _dealt(terms, (), source, now)

    @property
    def deal(self) -> State:
        """The deal under way or just over."""
        return self.deals[-1]

    @property
    def dealer(self) -> int:
        """The seat that dealt it."""
        return (self.terms.first_dealer + len(self.deals) - 1) % self.terms.seats

    @property
    def summaries(self) -> tuple[DealSummary, ...]:
        """The deals that are over."""
        return tuple(DealSummary.of(deal, deal.outcome) for deal in self.deals if deal.outcome)

    @property
    def score(self) -> Score:
        """The points that count so far; of a chiamata, those of the deal that decided it."""
        score = Score(self.terms.target_score)
        for summary in self.summaries:
            if not summary.patta:
                score = score.add(summary.outcome.points)
        return score

    @property
    def winner(self) -> int | None:
        """The side that has won, None while neither has."""
        if self.terms.single_deal:
            return self.deal.outcome.winner if self.deal.outcome else None
        return self.score.winner

    @property
    def phase(self) -> Phase:
        """What the match waits for."""
        if not self.deal.is_over:
            return Phase.PLAY
        return Phase.ACKNOWLEDGE if self.winner is None else Phase.OVER

    @property
    def is_over(self) -> bool:
        """Whether a side has won."""
        return self.phase is Phase.OVER

    @property
    def timeout(self) -> float | None:
        """Seconds allowed for what the match waits for, None for ever."""
        match self.phase:
            case Phase.PLAY:
                return self.terms.turn_timeout
            case Phase.ACKNOWLEDGE:
                return self.terms.hand_ack_timeout
            case Phase.OVER:
                return None

    @property
    def result(self) -> MatchResult | None:
        """How it ended, None while it has not."""
        winner = self.winner
        return None if winner is None else MatchResult.of(self.terms.variant, winner, self.summaries)

    @property
    def waiting_for(self) -> tuple[int, ...]:
        """The seats that have something to do, in seat order."""
        if self.deal.to_move is not None:
            return (self.deal.to_move,)
        if self.is_over:
            return ()
        return tuple(seat for seat in range(self.terms.seats) if seat not in self.acknowledged)

    def legal_actions(self, seat: int) -> tuple[Action, ...]:
        """What `seat` may do now.

        Raises:
            UnknownSeat: no such seat.
        """
        self.deal.check_seat(seat)
        if seat not in self.waiting_for:
            return ()
        return self.deal.legal_actions() or (Ack(seat),)

    def act(self, seat: int, action: Action, source: Source, now: float) -> Match:
        """The match after `seat` has done `action`; a deadline binds only once `tick` has seen it.

        Raises:
            UnknownSeat: no such seat.
            GameOver: the match is over.
            NotYourTurn: it is another seat's turn, or another seat's acknowledgement.
            WrongPhase: this kind of action does not belong here, or the seat has acknowledged already.
            IllegalAction: whatever else the variant refuses.
            ValueError: `now` is no clock reading.
        """
        _check_clock(now)
        self.deal.check_seat(seat)
        if self.is_over:
            raise GameOver("the match is over")
        if not self.deal.is_over:
            return self._with_deal(self.deal.act(seat, action), source, now)
        if not isinstance(action, Ack):
            raise WrongPhase(f"{str(action)!r} has no place between deals: acknowledge the one that is over")
        if action.seat != seat:
            raise NotYourTurn(f"seat {seat} cannot acknowledge for seat {action.seat}")
        if seat in self.acknowledged:
            raise WrongPhase(f"seat {seat} has acknowledged this deal already")
        acknowledged = tuple(sorted((*self.acknowledged, seat)))
        if len(acknowledged) == self.terms.seats:
            return _dealt(self.terms, self.deals, source, now)
        return replace(self, acknowledged=acknowledged)

    def tick(self, source: Source, now: float) -> Match:
        """The match when the clock reads `now`: itself before the deadline, then one automatic action later.

        Either the seat to move is acted for, or the next deal is dealt without the missing acknowledgements.
        The new deadline counts from `now`, so that a caller that slept robs nobody of a turn.

        Raises:
            ValueError: `now` is no clock reading.
        """
        _check_clock(now)
        if self.deadline is None or now < self.deadline:
            return self
        if self.deal.to_move is None:
            return _dealt(self.terms, self.deals, source, now)
        number = len(self.deals) - 1
        seen = self.deal.observation(self.deal.to_move)
        action = automatic_action(seen, lambda options: source.choose(number, options))
        return self._with_deal(self.deal.apply(action), source, now)

    def observation(self, seat: int) -> MatchObservation:
        """What `seat` may know now.

        Raises:
            UnknownSeat: no such seat.
        """
        return MatchObservation(
            phase=self.phase,
            target_score=self.terms.target_score,
            dealer=self.dealer,
            scores=self.score.totals,
            waiting_for=self.waiting_for,
            deadline=self.deadline,
            winner=self.winner,
            summaries=self.summaries,
            deal=self.deal.observation(seat),
            legal_actions=self.legal_actions(seat),
        )

    def to_json(self) -> dict[str, Json]:
        """`{"terms", "deals", "acknowledged", "deadline"}`: everything, hidden cards included."""
        return {
            "terms": self.terms.to_json(),
            "deals": [deal.to_json() for deal in self.deals],
            "acknowledged": list(self.acknowledged),
            "deadline": self.deadline,
        }

    @classmethod
    def from_json(cls, value: object) -> Match:
        """The match that `to_json` wrote, by replaying its deals.

        Raises:
            MalformedState: any other value, or a match that cannot have come about; the message says why.
        """
        if not isinstance(value, dict) or set(value) != {"terms", "deals", "acknowledged", "deadline"}:
            raise MalformedState("a saved match has terms, deals, acknowledged, deadline and nothing more")
        deals, seats = value["deals"], value["acknowledged"]
        if not isinstance(deals, list) or not deals or not isinstance(seats, list):
            raise MalformedState("deals is a list with one deal at least, acknowledged a list")
        try:
            match = cls(Terms.from_json(value["terms"]), (), tuple(seats), value["deadline"])
        except InvalidTerms as error:
            raise MalformedState(f"terms: {error}") from error
        for number, deal in enumerate(deals, 1):
            try:
                match = _with_saved_deal(match, deal)
            except MalformedState as error:
                raise MalformedState(f"deal {number}: {error}") from error
        _check_saved(match)
        return match

    def _with_deal(self, deal: State, source: Source, now: float) -> Match:
        match = replace(self, deals=(*self.deals[:-1], deal))
        if match.phase is Phase.ACKNOWLEDGE and self.terms.single_deal:
            return _dealt(self.terms, match.deals, source, now)
        return replace(match, deadline=_deadline(match, now))


def _dealt(terms: Terms, deals: tuple[State, ...], source: Source, now: float) -> Match:
    number = len(deals)
    deal = VARIANTS[terms.variant].start(source.deck(number), _first(terms, number))
    match = Match(terms, (*deals, deal), (), None)
    return replace(match, deadline=_deadline(match, now))


def _first(terms: Terms, number: int) -> int:
    return (terms.first_dealer + number + 1) % terms.seats


def _deadline(match: Match, now: float) -> float | None:
    timeout = match.timeout
    return None if timeout is None else now + timeout


def _check_clock(now: float) -> None:
    if not is_seconds(now):
        raise ValueError(f"{shown(now)} is no clock reading: it must be a number of seconds")


def _with_saved_deal(match: Match, saved: object) -> Match:
    if match.deals and match.phase is not Phase.ACKNOWLEDGE:
        raise MalformedState("the deal before it is not over, or has decided the match")
    deal = VARIANTS[match.terms.variant].from_json(saved)
    if deal.first != _first(match.terms, len(match.deals)):
        raise MalformedState(f"seat {deal.first} is dealt first, against the order of the dealers")
    return replace(match, deals=(*match.deals, deal))


def _check_saved(match: Match) -> None:
    acknowledging = match.phase is Phase.ACKNOWLEDGE
    if acknowledging and match.terms.single_deal:
        raise MalformedState("the deal after a patta is missing")
    seats = match.acknowledged
    in_order = all(type(seat) is int for seat in seats) and list(seats) == sorted(
        set(seats) & set(range(match.terms.seats))
    )
    if not in_order or len(seats) == match.terms.seats or (seats and not acknowledging):
        raise MalformedState(f"{shown(seats)} are not the seats that have acknowledged, in seat order")
    if (match.deadline is None) != (match.timeout is None):
        raise MalformedState("there is a deadline if, and only if, there is a timeout for what is awaited")
    if match.deadline is not None and not is_seconds(match.deadline):
        raise MalformedState(f"the deadline is {shown(match.deadline)}: it must be a number of seconds")
