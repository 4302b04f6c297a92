"""The table at the terminal: what is told when, with the cards and the other seats laid out by hand."""

import io
from contextlib import suppress

import pytest
from rich.console import Console

from app.briscola.action import PLAYS, Pass
from app.briscola.cards import DECK, Card
from app.briscola.chiamata import Chiamata
from app.briscola.partnership import Partnership
from app.briscola.two_player import TwoPlayer
from app.cli.card_table import CardTable, InputEnded, Stopped
from app.cli.card_words import CardWords


def first_card(told):
    return told.legal_actions[0]


def shown(state, typed: str, monkeypatch, computer=first_card, advisor=None) -> list[str]:
    """The lines of a table whose input is `typed`; it may end before the hand does."""
    console = Console(file=io.StringIO(), width=100)
    monkeypatch.setattr("sys.stdin", io.StringIO(typed))
    table = CardTable(console, CardWords("italian", state.seats), advisor)
    with suppress(InputEnded):
        table.play(state, computer)
    return console.file.getvalue().splitlines()


def test_tricks_and_notes(monkeypatch):
    # You hold B1 B3 B5, the computer B2 B4 B6; briscola is bastoni; then B8 B9, B10 C1 are drawn.
    lines = shown(TwoPlayer.start(DECK), "B5\nB3\nb1\n", monkeypatch)
    assert "Computer plays due di bastoni (B2)" in lines
    assert "You take the trick." in lines  # B5 and B2: nothing
    assert "You take the trick: 10 points!" in lines  # B3 and B4
    trick = lines.index("Trick 3 · stock 30 · briscola bastoni")
    assert lines[trick + 1 : trick + 3] == [
        "you: 10 · computer: 0",
        "  1 asso di bastoni (B1)      11 points",
    ]
    assert "You take the trick: 11 points!" in lines  # B1 and B6, not 21


def test_a_trick_of_the_computer_is_told_without_its_size(monkeypatch):
    # The computer takes your tre with the asso it was dealt.
    deck = [Card.B3, Card.B1, *(card for card in DECK if card not in (Card.B1, Card.B3))]
    lines = shown(TwoPlayer.start(deck), "B3\n", monkeypatch)
    assert "Computer takes the trick." in lines
    trick = lines.index("Trick 2 · stock 32 · briscola bastoni")
    assert lines[trick + 1] == "you: 0 · computer: 21"


def test_the_call_and_the_partner(monkeypatch):
    # Card n goes to seat n % 5: seat 0 holds B1 B6 C1 C6 …, seat 2 holds B3.
    def computer(told):
        if Pass() in told.legal_actions:
            return Pass()
        return PLAYS[Card.B3] if Card.B3 in told.hand else first_card(told)

    lines = shown(Chiamata.start(DECK), "3\nB3\nB1\n", monkeypatch, computer)
    assert lines[:5] == [
        "",
        "Your hand:",
        "asso di bastoni (B1)  sei di bastoni (B6)  asso di coppe (C1)  sei di coppe (C6)",
        "asso di denari (D1)   sei di denari (D6)   asso di spade (S1)  sei di spade (S6)",
        "Your bid (PASS A 3 K H J 7 6 5 4 2, q stops): 3",
    ]
    assert "You bid tre (3)" in lines
    assert "You call tre di bastoni (B3)" in lines
    assert lines.count("The calling side needs 61 points.") == 1
    assert "Trick 1 · briscola bastoni · you called tre di bastoni (B3)" in lines
    assert "That is the called card: Seat 2 is the partner." in lines


def test_playing_alone(monkeypatch):
    def computer(told):
        return Pass() if Pass() in told.legal_actions else first_card(told)

    lines = shown(Chiamata.start(DECK), "A\nB1\nB1\n", monkeypatch, computer)
    assert "That is the called card: You play alone." in lines


def test_partners_count_together(monkeypatch):
    # Seat 2, your partner, takes the first trick with the tre: B1 is yours, so play B5 under it.
    lines = shown(Partnership.start(DECK), "B5\n", monkeypatch, lambda told: told.legal_actions[0])
    assert "Partner plays tre di bastoni (B3)" in lines
    trick = lines.index("Trick 2 · stock 24 · briscola coppe")
    assert lines[trick + 1] == "your side: 10 · the others: 0"


def test_a_hint(monkeypatch):
    lines = shown(TwoPlayer.start(DECK), "B1\n", monkeypatch, advisor=lambda told: told.legal_actions[2])
    assert "Hint: You lead cinque di bastoni (B5)" in lines


@pytest.mark.parametrize("how", [EOFError, KeyboardInterrupt])
def test_ends(how, monkeypatch):
    def stop(prompt=""):
        raise how

    monkeypatch.setattr("builtins.input", stop)
    table = CardTable(Console(file=io.StringIO()), CardWords("italian", 2))
    with pytest.raises(InputEnded if how is EOFError else Stopped):
        table.play(TwoPlayer.start(DECK), first_card)
