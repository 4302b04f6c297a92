"""`publish`: sign one score and deliver it, from the command line."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING

import click

from app.cli.common import load_settings, run_loop
from app.cli.unusable import Unusable
from app.config import Settings
from app.log import configure_logging
from app.main import open_service
from app.publisher import ScoreState
from app.scores.score import Claim, InvalidScore
from app.scores.username import InvalidUsername
from app.store.errors import StoreError
from app.store.ledger import ClockBehind, TooFast

if TYPE_CHECKING:
    from app.publisher import Receipt

_WAIT = 30


# So that -1 is a score, which is then refused by its name, and not an option.
@click.command("publish", context_settings={"ignore_unknown_options": True})
@click.argument("username")
@click.argument("score", type=int)
@click.option(
    "--wait", default=_WAIT, show_default=True, type=click.IntRange(1, 3600), help="Seconds at most."
)
@click.option("--json", "as_json", is_flag=True, help="Print what POST /v1/scores answers.")
def command(username: str, score: int, wait: int, as_json: bool) -> None:
    """Sign USERNAME's SCORE and deliver it to the relays.

    Exit code 1 if no relay has accepted it after --wait seconds; the score is kept, and a running service
    goes on delivering it.
    """
    try:
        claim = Claim(username, score)
    except InvalidUsername as error:
        raise Unusable(f"the username {error}") from None
    except InvalidScore as error:
        raise Unusable(f"the score {error}") from None
    settings = load_settings(Settings)
    # People see how each relay stands; that a connection was made is for those who look for faults.
    level = "warning" if settings.log_level == "info" else settings.log_level
    configure_logging(level, settings.log_format)
    try:
        receipt = run_loop(_publish(settings, claim, wait))
    except (StoreError, TooFast, ClockBehind) as error:
        raise Unusable(str(error)) from None
    if as_json:
        click.echo(receipt.to_json())
    else:
        _show(receipt)
    sys.exit(0 if receipt.state in {ScoreState.ACCEPTED, ScoreState.NOT_IMPROVED} else 1)


async def _publish(settings: Settings, claim: Claim, wait: int) -> Receipt:
    async with open_service(settings) as service:
        return await service.publisher.publish(claim, wait=wait)


def _show(receipt: Receipt) -> None:
    click.echo(receipt.payload)
    for relay in receipt.relays:
        said = f": {relay.message}" if relay.message else ""
        click.echo(f"{relay.state:<10} {relay.url}{said}", err=True)
    if receipt.state is ScoreState.NOT_IMPROVED:
        click.echo("No improvement: this is the standing score.", err=True)
