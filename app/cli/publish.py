"""`publish`: sign one score and deliver it, from the command line."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, NoReturn

import click

from app.cli.common import load_settings, run_loop
from app.cli.unusable import Unusable
from app.client import Client, ClientError
from app.config import ClientSettings, Settings
from app.log import configure_logging
from app.main import open_service
from app.nostr.relay_url import public_relay_url
from app.publisher import ScoreState
from app.scores.score import Claim, InvalidScore
from app.scores.username import InvalidUsername
from app.store.errors import StoreError
from app.store.refusals import Refused

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.client_answers import Delivery
    from app.client_answers import Receipt as Answer
    from app.publisher import Receipt
    from app.store.scores import RelayState

_WAIT = 30


# So that -1 is a score, which is then refused by its name, and not an option.
@click.command("publish", context_settings={"ignore_unknown_options": True})
@click.argument("username")
@click.argument("score", type=int)
@click.option(
    "--wait", default=_WAIT, show_default=True, type=click.IntRange(1, 3600), help="Seconds at most."
)
@click.option("--json", "as_json", is_flag=True, help="Print what POST /v1/scores answers.")
@click.option(
    "--server", metavar="URL", help="Ask the service at this address to publish it; it waits 30 s at most."
)
def command(username: str, score: int, wait: int, as_json: bool, server: str | None) -> None:
    """Sign USERNAME's SCORE and deliver it to the relays.

    With --server a player does so from anywhere: the service signs the score, and BRISCOLA_PLAYER_KEY (the
    player's own secret key, which is not sent) or BRISCOLA_API_KEY says who asks.

    Exit code 1 if no relay has accepted it after --wait seconds; the score is kept, and a running service
    goes on delivering it.
    """
    try:
        claim = Claim(username, score)
    except InvalidUsername as error:
        raise Unusable(f"the username {error}") from None
    except InvalidScore as error:
        raise Unusable(f"the score {error}") from None
    if server is None:
        here = _publish_here(claim, wait)
        text = here.to_json().decode() if as_json else here.payload
        _end(text, here.state, () if as_json else here.relays)
    else:
        there = run_loop(_ask(_client(server), claim, wait))
        text = there.text if as_json else there.event.to_json()
        _end(text, there.state, () if as_json else there.relays)


def _publish_here(claim: Claim, wait: int) -> Receipt:
    settings = load_settings(Settings)
    # People see how each relay stands; that a connection was made is for those who look for faults.
    level = "warning" if settings.log_level == "info" else settings.log_level
    configure_logging(level, settings.log_format)
    try:
        return run_loop(_publish(settings, claim, wait))
    except (StoreError, Refused) as error:
        raise Unusable(str(error)) from None


async def _publish(settings: Settings, claim: Claim, wait: int) -> Receipt:
    async with open_service(settings, briefly=True) as service:
        return await service.publisher.publish(claim, wait=wait)


def _client(server: str) -> Client:
    """A client that signs in with what the environment holds."""
    settings = load_settings(ClientSettings)
    if (settings.player_key is None) == (settings.api_key is None):
        raise Unusable("set one of BRISCOLA_PLAYER_KEY (your own secret key) and BRISCOLA_API_KEY")
    try:
        return Client(server, api_key=settings.api_key, player_key=settings.player_key)
    except ValueError as error:
        raise Unusable(str(error)) from None


async def _ask(client: Client, claim: Claim, wait: int) -> Answer:
    async with client:
        try:
            return await client.publish(claim.username, claim.score, wait=wait)
        except ClientError as error:
            raise Unusable(str(error)) from None


def _end(text: str, state: str, relays: Sequence[RelayState | Delivery]) -> NoReturn:
    """Show the score and how it stands, and leave with the exit code that says so."""
    click.echo(text)
    for relay in relays:
        said = f": {relay.message}" if relay.message else ""
        click.echo(f"{relay.state:<10} {public_relay_url(relay.url)}{said}", err=True)
    if relays and state == ScoreState.NOT_IMPROVED:
        click.echo("No improvement: this is the standing score.", err=True)
    sys.exit(0 if state in {ScoreState.ACCEPTED, ScoreState.NOT_IMPROVED} else 1)
