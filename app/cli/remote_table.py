"""A hand at the terminal whose other side is on a service: the same look as one that is played here."""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING

from app.briscola.action import Play
from app.cli.card_words import YOU

if TYPE_CHECKING:
    from app.briscola.observation import Public
    from app.cli.card_table import CardTable
    from app.match_client import RemoteMatch

COMPUTER = 1


async def play_there(table: CardTable, match: RemoteMatch) -> None:
    """Play a match that is dealt to its end.

    Raises:
        InputEnded, Stopped: as `CardTable.play`.
        ClientError: the service does not answer as it should.
    """
    told = match.observation
    table.begin(told.public)
    if told.public.table:  # the computer led before this hand was gone on with
        _led(table, told.public)
    while match.is_open:
        if not told.public.table:
            table.announce(told.public)
        action = table.ask(told)
        if not isinstance(action, Play):
            raise AssertionError(f"{action} is no play")
        await match.play(action.card)
        after = match.observation
        _tell(table, action, told.public, after.public)
        told = after


def _tell(table: CardTable, played: Play, before: Public, after: Public) -> None:
    """What your card brought about: the reply to it if you led, who took the trick, the next lead."""
    table.console.print(table.words.deed(YOU, played, leads=not before.table))
    ended = len(after.actions) - len(after.table)
    for reply in after.actions[len(before.actions) + 1 : ended]:
        table.console.print(table.words.deed(COMPUTER, reply, leads=False))
    trick_over = replace(after, table=(), actions=after.actions[:ended])
    table.follow(replace(before, table=(*before.table, played.card)), trick_over)
    if after.table:
        _led(table, after)


def _led(table: CardTable, public: Public) -> None:
    table.announce(replace(public, table=(), actions=public.actions[:-1]))
    table.console.print(table.words.deed(COMPUTER, public.actions[-1], leads=True))
