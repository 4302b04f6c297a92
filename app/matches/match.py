"""A hand against the computer: nothing but what it was dealt from and the plays so far.

The player sits at seat 0 and leads every deal (seed 002). Plies are counted from 1, the player's first lead,
to 40. A match is rebuilt from its seeds and plays; the computer's plays are taken as they were made, so that
only `replay` has to think them over again.
"""

from __future__ import annotations

from dataclasses import dataclass, field
from enum import StrEnum
from typing import TYPE_CHECKING, NamedTuple

from app.briscola.action import PLAYS, Play
from app.briscola.computer import computer
from app.briscola.errors import GameOver, NotYourTurn, WrongPhase
from app.briscola.shuffle import shuffled_deck
from app.briscola.two_player import TwoPlayer
from app.matches.commitment import deck_seed, play_seed

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.briscola.cards import Card
    from app.briscola.observation import Observation
    from app.matches.commitment import Terms

PLIES = 40
"""Cards of a whole hand."""


class Side(StrEnum):
    """Who plays; the player's seat is 0, the computer's 1."""

    PLAYER = "player"
    COMPUTER = "computer"


SIDES = tuple(Side)
"""The sides by seat."""
PLAYER_SEAT, COMPUTER_SEAT = map(SIDES.index, SIDES)


class Ply(NamedTuple):
    """One card on the table."""

    side: Side
    card: Card


class Points(NamedTuple):
    """Card points taken; 120 between them once the hand is over."""

    player: int
    computer: int


class WrongPly(ValueError):
    """A play for a ply that is already another one's, or not yet to be played; the message says which."""


@dataclass(frozen=True, slots=True)
class Match:
    """A hand at one moment. No text of it shows a card that is not on the table.

    Attributes:
        level: the computer's.
        play_seed: decides what is random in the computer's play.
        state: the cards, as the rules know them.
        plays: every play so far.
    """

    level: str
    play_seed: bytes = field(repr=False)
    state: TwoPlayer = field(repr=False)
    plays: tuple[Ply, ...] = ()

    @classmethod
    def deal(cls, terms: Terms, server_seed: bytes, client_seed: bytes, cards: Iterable[Card] = ()) -> Match:
        """The match as dealt, and after `cards` were played, both sides', in order.

        Raises:
            ValueError: a seed is not 32 bytes long.
            IllegalAction: one of the cards cannot be played.
        """
        seeds = (terms.match, server_seed, client_seed)
        state = TwoPlayer.start(shuffled_deck(deck_seed(*seeds)), first=PLAYER_SEAT)
        match = cls(terms.level, play_seed(*seeds), state)
        for card in cards:
            match = match.after(card)
        return match

    @property
    def next_ply(self) -> int:
        """The number of the play that is due; 41 once the hand is over."""
        return len(self.plays) + 1

    @property
    def to_move(self) -> Side | None:
        """Whose play is due, None once the hand is over."""
        return None if self.state.to_move is None else SIDES[self.state.to_move]

    @property
    def is_over(self) -> bool:
        """Whether every card is played."""
        return self.state.is_over

    @property
    def points(self) -> Points:
        """What each side has taken so far."""
        return Points(*self.state.table.points)

    @property
    def observation(self) -> Observation:
        """What the player may know."""
        return self.state.observation(PLAYER_SEAT)

    def play(self, ply: int, card: Card) -> Match:
        """The match after the player's `card` as that ply; the same match if that is already so.

        Raises:
            WrongPly: the ply was played otherwise, or is not due yet.
            GameOver: every card is played.
            NotYourTurn: the computer is to move.
            CardNotInHand: the player does not hold the card.
        """
        if 1 <= ply < self.next_ply:
            made = self.plays[ply - 1]
            if made == (Side.PLAYER, card):
                return self
            raise WrongPly(f"ply {ply} was {made.card}, played by the {made.side}")
        if self.is_over:
            raise GameOver("every card is played")
        if ply != self.next_ply:
            raise WrongPly(f"the next ply is {self.next_ply}, not {ply}")
        if self.to_move is not Side.PLAYER:
            raise NotYourTurn("the computer is to move")
        return self.after(card)

    def reply(self) -> Match:
        """The match once the computer has played until the player is to move again, or the hand is over."""
        match = self
        while match.to_move is Side.COMPUTER:
            match = match.after(match.choice())
        return match

    def choice(self) -> Card:
        """The card that the computer plays now; for `master` some 10 ms of thought.

        Raises:
            NotYourTurn: the computer is not to move.
        """
        action = computer(self.level, self.play_seed)(self.state.observation(COMPUTER_SEAT))
        if not isinstance(action, Play):
            raise WrongPhase(f"the computer answered {action} where only plays are known")
        return action.card

    def after(self, card: Card) -> Match:
        """The match after the side to move has played `card`.

        Raises:
            GameOver: every card is played.
            CardNotInHand: that side does not hold the card.
        """
        if self.state.to_move is None:
            raise GameOver("every card is played")
        ply = Ply(SIDES[self.state.to_move], card)
        return Match(self.level, self.play_seed, self.state.apply(PLAYS[card]), (*self.plays, ply))
