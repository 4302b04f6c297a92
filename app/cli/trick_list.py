"""A hand that was played, as a list of its tricks."""

from __future__ import annotations

from typing import TYPE_CHECKING

from rich.console import Group
from rich.table import Table
from rich.text import Text

from app.briscola.errors import IllegalAction
from app.cli.card_words import CardWords
from app.matches.match import SIDES, Match, Side

if TYPE_CHECKING:
    from rich.console import RenderableType

    from app.cli.card_words import Language
    from app.matches.transcript import Transcript


def trick_list(transcript: Transcript, language: Language) -> RenderableType:
    """Every trick as far as the plays are legal: the cards (`>` led), who took it, what it was worth."""
    words = CardWords(language, len(SIDES))
    match = Match.deal(transcript.terms, transcript.secrets.server_seed, transcript.client_seed)
    table = Table("", *SIDES, "taken by", "points", "total", box=None, pad_edge=False, collapse_padding=True)
    trick: dict[Side, Text] = {}
    for side, card in transcript.plays:
        before, mover = match.points, match.to_move
        try:
            match = match.after(card)
        except IllegalAction:
            break
        if side is not mover:
            break
        trick[side] = Text("  " if trick else "> ").append(words.card(card))
        if len(trick) == len(SIDES):
            taker = SIDES[match.state.table.leader]
            worth = sum(match.points) - sum(before)
            total = f"{match.points.player} : {match.points.computer}"
            row = [trick[at] for at in SIDES]
            table.add_row(str(table.row_count + 1), *row, taker, str(worth or ""), total)
            trick = {}
    if trick:  # the hand ends within a trick
        table.add_row(str(table.row_count + 1), *(trick.get(at, "") for at in SIDES))
    return Group(Text.assemble("Under the stock: ", words.card(match.state.face_up)), table)
