"""`leaderboard`: the board as the relays have it, verified here."""

from __future__ import annotations

import asyncio
import json
import os
import sys
import time
from contextlib import contextmanager, nullcontext, suppress
from datetime import UTC, datetime
from functools import partial
from typing import TYPE_CHECKING

import click
from rich.console import Console, Group
from rich.live import Live
from rich.table import Table
from rich.text import Text

from app.cli.common import load_settings, run_loop
from app.cli.public_keys import pubkey_option, public_keys
from app.cli.unusable import Unusable
from app.config import ReadingSettings, Settings
from app.delivery.answer import one_line
from app.delivery.reader import Reader
from app.log import configure_logging
from app.nostr.relay_url import InvalidRelayUrl, public_relay_url
from app.web.board import BoardView
from app.web.board_query import BoardQuery

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from contextlib import AbstractContextManager

    from rich.console import RenderableType

_WAIT = 10
_REDRAWN_SECONDS = 0.2
_SECRETS = ("BRISCOLA_SECRET_KEY", "BRISCOLA_SECRET_KEY_FILE")
_NAME_CELLS = 32


@click.command("leaderboard")
@click.option(
    "--relay", "relays", multiple=True, metavar="URL", help="Read this relay; repeat it for several."
)
@pubkey_option
@click.option("--watch", is_flag=True, help="Go on, and show what changes, until Ctrl-C.")
@click.option("--limit", type=click.IntRange(1), help="Rows at most; all by default.")
@click.option(
    "--wait", default=_WAIT, show_default=True, type=click.IntRange(1, 3600), help="Seconds for the relays."
)
@click.option("--json", "as_json", is_flag=True, help="Print what GET /v1/leaderboard answers.")
def command(
    relays: tuple[str, ...],
    pubkeys: tuple[str, ...],
    watch: bool,
    limit: int | None,
    wait: int,
    as_json: bool,
) -> None:
    """Read the relays, verify every score, and show the newest of each player, best first.

    With --relay and --pubkey it needs no settings; without, those of the service are used. Exits 0 if every
    relay was read to its end, 1 if one was not (what was read is shown), 2 if an option or a setting cannot
    be used.
    """
    configure_logging("error", "text")  # how each relay stands is shown with the board
    reader = _reader(relays, pubkeys)
    make = partial(_line, BoardView(reader, time.time), limit) if as_json else partial(_table, reader, limit)
    complete = run_loop(_read(reader, make, _screen(as_json=as_json, live=watch), wait, watch=watch))
    sys.exit(0 if complete else 1)


def _reader(relays: tuple[str, ...], pubkeys: tuple[str, ...]) -> Reader:
    relays = relays or load_settings(ReadingSettings).relays
    signs_here = not pubkeys and any(os.environ.get(name) for name in _SECRETS)
    keys = load_settings(Settings).verifying_keys if signs_here else public_keys(pubkeys)
    try:
        return Reader(relays, keys)
    except InvalidRelayUrl as error:
        raise Unusable(f"--relay: {error}") from None


async def _read(
    reader: Reader,
    make: Callable[[], RenderableType],
    screen: AbstractContextManager[Callable[[RenderableType], None]],
    wait: float,
    *,
    watch: bool,
) -> bool:
    """Show the board, and with `watch` whatever changes; whether it was complete in the end."""
    async with reader:
        with _waiting():
            await reader.ready(wait)
        with screen as show:
            show(make())
            with suppress(asyncio.CancelledError):  # Ctrl-C is how watching ends
                if watch:
                    async for _ in reader.changes():
                        show(make())
                        await asyncio.sleep(_REDRAWN_SECONDS)
        return reader.complete


def _waiting() -> AbstractContextManager[object]:
    """A word on a terminal that the relays are being read."""
    console = Console(stderr=True)
    return console.status("Reading the relays") if console.is_terminal else nullcontext()


@contextmanager
def _screen(*, as_json: bool, live: bool) -> Iterator[Callable[[RenderableType], None]]:
    """What shows a board: in the place of the last one where that can be, else below it."""
    console = Console(highlight=False)
    if as_json:
        yield click.echo
    elif live and console.is_terminal:
        with Live(console=console, auto_refresh=False) as screen:
            yield partial(screen.update, refresh=True)
    else:
        yield console.print


def _line(view: BoardView, limit: int | None) -> str:
    """The document in ASCII: a name may hold what a terminal would obey."""
    return json.dumps(json.loads(view.render(BoardQuery(limit=limit)).body), separators=(",", ":"))


def _table(reader: Reader, limit: int | None) -> RenderableType:
    table = Table(box=None, pad_edge=False)
    table.add_column("Rank", justify="right")
    table.add_column("Player", max_width=_NAME_CELLS, overflow="ellipsis", no_wrap=True)
    table.add_column("Score", justify="right")
    table.add_column("When", no_wrap=True)
    count = len(reader.board)
    for rank, row in reader.board.ranking.page(count if limit is None else limit):
        when = datetime.fromtimestamp(row.created_at, UTC).astimezone()
        table.add_row(str(rank), Text(one_line(row.username)), str(row.score), f"{when:%Y-%m-%d %H:%M}")
    return Group(table, *(Text(line) for line in _state(reader, count)))


def _state(reader: Reader, count: int) -> Iterator[str]:
    yield f"{count} player{'' if count == 1 else 's'}{'' if reader.complete else ', perhaps not all:'}"
    for relay in reader.relays:
        if not relay.complete:
            said = f": {relay.reason}" if relay.reason else ""
            yield f"  {public_relay_url(relay.url)} {relay.state}{said}"
    if early := reader.board.early:
        wait = "1 event waits" if early == 1 else f"{early} events wait"
        yield f"{wait}, more than 15 minutes ahead of this clock"
