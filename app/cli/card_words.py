"""Cards, seats and deeds in words: what a hand at the terminal is told in."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Literal, get_args

from rich.text import Text

from app.briscola.action import Bid, Call, Pass, Play, Raise
from app.briscola.cards import Suit
from app.briscola.partnership import Partnership
from app.briscola.two_player import TwoPlayer

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.briscola.action import Action
    from app.briscola.cards import Card, Rank

Language = Literal["italian", "english"]
LANGUAGES: tuple[Language, ...] = get_args(Language)

YOU = 0
"""The seat of whoever sits at the terminal."""

_STYLES = {Suit.BASTONI: "green", Suit.COPPE: "red", Suit.DENARI: "yellow", Suit.SPADE: "cyan"}


@dataclass(frozen=True, slots=True)
class CardWords:
    """Names in one language, at a table of `seats`."""

    language: Language
    seats: int

    def card(self, card: Card) -> Text:
        """`re di coppe (C10)`, in the colour of its suit."""
        name = card.italian if self.language == "italian" else card.english
        return Text(f"{name} ({card})", _STYLES[card.suit])

    def suit(self, suit: Suit) -> Text:
        """`coppe`, in its colour."""
        return Text(suit.italian if self.language == "italian" else suit.english, _STYLES[suit])

    def rank(self, rank: Rank) -> str:
        """`re (K)`: the name, and the letter that a bid is typed as."""
        name = rank.italian if self.language == "italian" else rank.english
        return f"{name} ({rank.letter})"

    def seat(self, seat: int) -> str:
        """`you`, `computer` or `partner` where there is one such, else `seat 3`."""
        if seat == YOU:
            return "you"
        names = {(TwoPlayer.seats, 1): "computer", (Partnership.seats, 2): "partner"}
        return names.get((self.seats, seat), f"seat {seat}")

    def holder(self, seat: int, alone: bool) -> str:
        """`Seat 2 is the partner`: what the called card shows when it is played."""
        if seat == YOU:
            return "You play alone" if alone else "You are the partner"
        return f"{self.seat(seat).capitalize()} {'plays alone' if alone else 'is the partner'}"

    def totals(self, points: Sequence[int]) -> list[tuple[str, int]]:
        """Who has how many points; partners count theirs together."""
        if self.seats == Partnership.seats:
            ours, theirs = (sum(points[seat] for seat in side) for side in Partnership.sides)
            return [("your side", ours), ("the others", theirs)]
        return [(self.seat(seat), taken) for seat, taken in enumerate(points)]

    def deed(self, seat: int, action: Action, leads: bool) -> Text:
        """`Computer leads re di coppe (C10)`."""
        who, s = self.seat(seat).capitalize(), "" if seat == YOU else "s"
        match action:
            case Play(card):
                return Text.assemble(f"{who} {'lead' if leads else 'play'}{s} ", self.card(card))
            case Call(card):
                return Text.assemble(f"{who} call{s} ", self.card(card))
            case Bid(rank):
                return Text(f"{who} bid{s} {self.rank(rank)}")
            case Raise(points):
                return Text(f"{who} bid{s} {points} points")
            case Pass():
                return Text(f"{who} pass" + ("es" if s else ""))
            case _:
                return Text(f"{who}: {action}")
