"""A hand of any variant at the terminal: what is shown when, and how a choice is typed."""

from __future__ import annotations

import sys
from dataclasses import dataclass
from typing import TYPE_CHECKING

from rich.columns import Columns
from rich.text import Text

from app.briscola.action import Call, Play
from app.briscola.chiamata import ChiamataPublic
from app.cli.card_words import YOU

if TYPE_CHECKING:
    from collections.abc import Sequence

    from rich.console import Console

    from app.briscola.action import Action
    from app.briscola.computer import Player
    from app.briscola.game import Outcome, State
    from app.briscola.observation import Observation, Public
    from app.cli.card_words import CardWords

_NOTED = 10  # a trick of yours is announced with its size from here on (seed 002)
_SMALL_HAND = 3  # more cards than these are shown by suit, these in the order they came


class InputEnded(Exception):
    """The input ended before the hand did."""


class Stopped(Exception):
    """Whoever sits at the terminal wants to stop."""


@dataclass(frozen=True, slots=True)
class CardTable:
    """You at seat 0; `advisor`, when there is one, gives you hints."""

    console: Console
    words: CardWords
    advisor: Player | None = None

    def play(self, state: State, computer: Player) -> Outcome | None:
        """Play `state` to its end, with `computer` at every other seat.

        Raises:
            InputEnded: the input ended first.
            Stopped: `q` or Ctrl-C was typed.
        """
        self.begin(state.observation(YOU).public)
        while (seat := state.to_move) is not None:
            told = state.observation(YOU)
            if told.public.trump is not None and not told.public.table:
                self.announce(told.public)
            action = self.ask(told) if seat == YOU else computer(state.observation(seat))
            self.console.print(self.words.deed(seat, action, not told.public.table))
            state = state.apply(action)
            self.follow(told.public, state.observation(YOU).public)
        return state.outcome

    def begin(self, public: Public) -> None:
        """The first line of a hand."""
        if public.face_up is not None:
            self.console.print(Text.assemble("Under the stock: ", self.words.card(public.face_up)))

    def announce(self, public: Public) -> None:
        """The lines over a trick: its number, the stock, briscola, the call, everybody's points."""
        plays = sum(isinstance(action, Play) for action in public.actions)
        parts = [Text(f"Trick {plays // len(public.hand_sizes) + 1}", "bold")]
        if public.face_up is not None:
            parts.append(Text(f"stock {public.stock_left or 'empty'}"))
        if public.trump is not None:
            parts.append(Text.assemble("briscola ", self.words.suit(public.trump)))
        if isinstance(public, ChiamataPublic) and public.bidder is not None and public.called is not None:
            caller = self.words.seat(public.bidder)
            parts.append(Text.assemble(f"{caller} called ", self.words.card(public.called)))
        totals = [Text(f"{who}: {points}") for who, points in self.words.totals(public.points)]
        self.console.print()
        for line in (parts, totals):  # two lines, so that each fits a narrow terminal
            self.console.print(Text(" · ").join(line))

    def follow(self, before: Public, after: Public) -> None:
        """What the last action brought about: a trick taken, a target set, a partner shown."""
        if before.table and not after.table:
            worth = sum(after.points) - sum(before.points)
            if after.leader != YOU:
                self._say(f"{self.words.seat(after.leader).capitalize()} takes the trick.", "dim")
            elif worth < _NOTED:
                self._say("You take the trick.", "dim")
            else:
                self._say(f"You take the trick: {worth} points!", "bold")
        if isinstance(before, ChiamataPublic) and isinstance(after, ChiamataPublic):
            if before.called is None and after.called is not None:
                self._say(f"The calling side needs {after.target} points.", "bold")
            if before.holder is None and after.holder is not None:
                shown = self.words.holder(after.holder, alone=after.holder == after.bidder)
                self._say(f"That is the called card: {shown}.", "bold")

    def ask(self, told: Observation) -> Action:
        """Show the choices and read one, until it is one of them."""
        cards = [action for action in told.legal_actions if isinstance(action, Play | Call)]
        if len(cards) > _SMALL_HAND:
            cards.sort(key=lambda action: action.card)
        choices = _choices(cards or told.legal_actions)
        for number, action in enumerate(cards, 1):
            name = self.words.card(action.card)
            if action.card.points:
                name.pad_right(26 - len(name))
                name.append(f"{action.card.points} points", "not bold dim default")
            self.console.print(Text(f"  {number} ").append(name))
        if not cards:
            self.console.print("\nYour hand:")
            self.console.print(Columns(map(self.words.card, sorted(told.hand)), padding=(0, 2)))
        if self.advisor is not None:
            hint = self.words.deed(YOU, self.advisor(told), not told.public.table)
            self.console.print(Text.assemble("Hint: ", hint))
        options = f"1 to {len(cards)}" if cards else " ".join(choices)
        while True:
            typed = self._read(f"Your {'card' if cards else 'bid'} ({options}, q stops): ")
            if typed in choices:
                return choices[typed]
            example = f" or a card such as {cards[0].card}" if cards else ""
            self._say(f"{typed!r:.30} is not among them: type {options}{example}", "red")

    def _read(self, prompt: str) -> str:
        try:
            typed = self.console.input(Text(prompt)).strip().upper()
        except EOFError:
            self.console.print()
            raise InputEnded from None
        except KeyboardInterrupt:
            self.console.print()
            raise Stopped from None
        if not sys.stdin.isatty():
            self.console.print(Text(typed))  # so that the record of a piped hand can be read
        if typed in ("Q", "QUIT"):
            raise Stopped
        return typed

    def _say(self, text: str, style: str) -> None:
        self.console.print(Text(text, style))


def _choices(actions: Sequence[Action]) -> dict[str, Action]:
    """What can be typed for each action: a card's number or text, a bid by itself."""
    choices: dict[str, Action] = {}
    for number, action in enumerate(actions, 1):
        if isinstance(action, Play | Call):
            choices[str(number)] = choices[str(action.card)] = action
        else:
            choices[str(action).removeprefix("bid ").upper()] = action
    return choices
