"""The table whose other side is elsewhere: it looks as one that is played here."""

from __future__ import annotations

import io
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, cast

import pytest
from rich.console import Console

from app.briscola.action import PLAYS
from app.briscola.cards import Card
from app.briscola.computer import computer
from app.briscola.shuffle import shuffled_deck
from app.briscola.two_player import TwoPlayer
from app.cli.card_table import CardTable, InputEnded
from app.cli.card_words import CardWords
from app.cli.remote_table import play_there

if TYPE_CHECKING:
    from app.briscola.observation import Observation
    from app.match_client import RemoteMatch

YOUR_SEAT = 0


@dataclass
class Elsewhere:
    """What `play_there` asks of a match, with the rules behind it."""

    state: TwoPlayer
    choose: Any

    @property
    def observation(self) -> Observation:
        return self.state.observation(YOUR_SEAT)

    @property
    def is_open(self) -> bool:
        return not self.state.is_over

    async def play(self, card: Card) -> None:
        self.state = self.state.apply(PLAYS[card])
        while self.state.to_move not in (YOUR_SEAT, None):
            self.state = self.state.apply(self.choose(self.state.observation(1)))


def table_of(monkeypatch: pytest.MonkeyPatch, typed: str) -> tuple[CardTable, io.StringIO]:
    shown = io.StringIO()
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    return CardTable(Console(file=shown, width=100), CardWords("italian", 2), None), shown


@pytest.mark.parametrize("seed", range(5))
async def test_it_looks_as_a_hand_that_is_played_here(monkeypatch: pytest.MonkeyPatch, seed: int) -> None:
    start = TwoPlayer.start(shuffled_deck(bytes([seed]) * 32))
    sharp = computer("sharp", bytes(32))
    here, told_here = table_of(monkeypatch, "1\n" * 20)
    assert here.play(start, sharp) is not None
    there, told_there = table_of(monkeypatch, "1\n" * 20)
    await play_there(there, cast("RemoteMatch", Elsewhere(start, sharp)))
    assert told_there.getvalue() == told_here.getvalue()
    assert told_there.getvalue().count("Trick ") == 20


async def test_a_hand_that_is_gone_on_with_begins_with_the_lead_on_the_table(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    # The computer takes your first card with the asso of briscola, and leads.
    deck = [Card.B3, Card.B1, *(card for card in Card if card not in (Card.B1, Card.B3))]
    match = Elsewhere(TwoPlayer.start(deck), lambda told: told.legal_actions[0])
    await match.play(Card.B3)
    led = match.observation.public.table[0]
    table, shown = table_of(monkeypatch, "")
    with pytest.raises(InputEnded):
        await play_there(table, cast("RemoteMatch", match))
    lines = shown.getvalue().splitlines()
    assert lines[2] == "Trick 2 · stock 32 · briscola bastoni"
    assert lines[3] == "you: 0 · computer: 21"
    assert lines[4].startswith("Computer leads ")
    assert lines[4].endswith(f"({led})")
