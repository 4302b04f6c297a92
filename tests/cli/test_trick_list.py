"""A hand as a list of its tricks, against what another reading played."""

from __future__ import annotations

import io
import json
from typing import Any

import pytest
from rich.console import Console

from app.cli.card_words import LANGUAGES, Language
from app.cli.trick_list import trick_list
from app.matches.transcript import read_transcript
from tests.matches import reference
from tests.vectors import load

CASES = load("match.json")["matches"]


def lines(case: dict[str, Any], language: Language = "italian") -> list[str]:
    console = Console(file=io.StringIO(), width=80)
    console.print(trick_list(read_transcript(json.dumps(case["event"]))[1], language))
    text: str = console.file.getvalue()  # type: ignore[attr-defined]  # the StringIO above
    return [line.rstrip() for line in text.splitlines()]


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_trick_of_a_whole_hand(language: Language) -> None:
    for case in CASES[:3]:
        rows = [line for line in lines(case, language) if line[:1].isdigit()]
        hand = reference.Hand(case["deck"])
        assert len(rows) == 20
        for number, row in enumerate(rows, 1):
            led, reply = case["plays"][2 * number - 2 : 2 * number]
            hand.put(led[1])
            hand.put(reply[1])
            assert row.split()[0] == str(number)
            assert row.partition("> ")[2].partition(")")[0].endswith(f"({led[1]}")
            assert row.index("> ") < row.index(reply[1]) or led[0] == "computer"
            assert f"({reply[1]})" in row
            assert f" {('player', 'computer')[hand.turn]} " in row
            assert row.endswith(f"{hand.points[0]} : {hand.points[1]}")


def test_the_card_under_the_stock_and_no_line_too_wide() -> None:
    for case in CASES:
        head, *rest = lines(case)
        assert head.startswith("Under the stock: ")
        assert head.endswith(f"({case['deck'][6]})")
        assert all(line[:1].isdigit() for line in rest[1:])  # no cell is broken


def test_a_hand_that_ends_within_a_trick_or_before_the_first() -> None:
    eleven, none = CASES[3], CASES[4]
    assert (len(eleven["plays"]), len(none["plays"])) == (11, 0)
    last = lines(eleven)[-1]
    assert last.startswith("6 ")
    assert (eleven["plays"][10][1] in last, last.count("(")) == (True, 1)
    assert len(lines(none)) == 2
