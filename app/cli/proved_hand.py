"""`play --server`: a hand on a service, from the commitment to the published score and its replay."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import click
import orjson
from rich.text import Text

from app.cli.common import load_settings, run_loop
from app.cli.play import closing
from app.cli.remote_table import play_there
from app.cli.unusable import Unusable
from app.client import Client, ClientError, Refused
from app.config import ClientSettings
from app.match_client import RemoteMatch, WentOn
from app.matches.replay import verify_transcript
from app.publisher import ScoreState
from app.scores.username import InvalidUsername, check_username

if TYPE_CHECKING:
    from app.cli.card_table import CardTable
    from app.nostr.keys import SecretKey

_LOOK_EVERY = 0.5
_LOOKS = 20
"""For the relays to answer, and for the board to show the score."""


def play_proved(table: CardTable, server: str, name: str | None, level: str) -> None:
    """Play a hand on the service at this address, and show what became of it.

    Raises:
        Unusable: the settings, the name or the service will not do.
        Stopped, InputEnded: the hand was left; it waits on the service.
    """
    settings = load_settings(ClientSettings)
    if settings.player_key is None:
        raise Unusable(
            "set BRISCOLA_PLAYER_KEY to your own secret key: it signs for you, and is never sent; "
            "`briscola-scores keygen` makes one"
        )
    if name is None:
        raise Unusable("give the name to publish the score under: --name NAME")
    try:
        check_username(name)
        client = Client(server, player_key=settings.player_key)
    except InvalidUsername as error:
        raise Unusable(f"the name {error}") from None
    except ValueError as error:
        raise Unusable(str(error)) from None
    run_loop(_play(client, settings.player_key, table, name, level))


async def _play(client: Client, player_key: SecretKey, table: CardTable, name: str, level: str) -> None:
    async with client:
        try:
            match = await RemoteMatch.open(client, player_key, name, level)
        except ClientError as error:
            raise Unusable(str(error)) from None
        try:
            again = " Going on where you left it." if match.resumed else ""
            table.console.print(f"Match {match.id}, level {level}.{again}", style="dim", soft_wrap=True)
            if not match.is_dealt:
                await match.deal()
            await _play_on(table, match)
            await _tell_end(client, table, match, name)
        except ClientError as error:
            said = str(error).rstrip(".")
            raise Unusable(f"{said}. The hand waits on the service: the same command goes on.") from None


async def _play_on(table: CardTable, match: RemoteMatch) -> None:
    while match.is_open:
        try:
            await play_there(table, match)
        except WentOn as moved:
            table.console.print(Text(f"{moved} This is how the hand stands."), style="yellow", soft_wrap=True)


async def _tell_end(client: Client, table: CardTable, match: RemoteMatch, name: str) -> None:
    console = table.console
    console.print()
    if match.forfeit is not None:
        console.print(f"The hand {match.forfeit.told}: it counts as forfeited.", style="bold")
    else:
        console.print(closing(match.outcome), style="bold")
        await _tell_score(client, table, match, name)
    keys = orjson.loads(await client.call("GET", "/v1/protocol"))["public_keys"]
    verdict = await asyncio.to_thread(verify_transcript, await match.transcript(), frozenset(keys))
    if verdict.ok:
        console.print("Replayed here from the seeds: every play is as it must be.", style="green")
    else:
        console.print("The transcript is false:", style="red")
        for reason in verdict.reasons:
            console.print(Text(f"  {reason}"), soft_wrap=True)
        raise click.exceptions.Exit(1)


async def _tell_score(client: Client, table: CardTable, match: RemoteMatch, name: str) -> None:
    """The published event, relay by relay, and its place on the board."""
    for _ in range(_LOOKS):
        if match.unpublished != "waiting":
            break
        await asyncio.sleep(_LOOK_EVERY)
        await match.refresh()
    if match.score is None:
        table.console.print(f"No score was published: {match.unpublished}.")
        return
    receipt = await client.score(match.score)
    for _ in range(_LOOKS):
        if receipt.state != ScoreState.PENDING:
            break
        await asyncio.sleep(_LOOK_EVERY)
        receipt = await client.score(match.score)
    table.console.print(f"Published as {receipt.event.id}:", soft_wrap=True)
    for relay in receipt.relays:
        said = f": {relay.message}" if relay.message else ""
        table.console.print(Text(f"  {relay.state:<10} {relay.url}{said}"), soft_wrap=True)
    if (rank := await _rank(client, name, match.score)) is not None:
        table.console.print(f"On the board: place {rank}.")


async def _rank(client: Client, name: str, event_id: str) -> int | None:
    """The rank of this score once the board shows it; None if it does not soon."""
    for _ in range(_LOOKS):
        try:
            row = await client.board_row(name)
        except Refused:
            row = None  # not there yet, or no board is served
        if row is not None and row["event_id"] == event_id:
            return int(row["rank"])
        await asyncio.sleep(_LOOK_EVERY)
    return None
