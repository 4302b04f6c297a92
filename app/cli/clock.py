"""`clock`: the clock by which scores were signed, and signing again after it was ahead."""

from __future__ import annotations

import json
import math
import sys
import time

import click

from app.cli.store import as_json_option, date, transaction
from app.store.journal import MAX_LEAD
from app.store.newest_time import names_ahead, newest_time, set_back


@click.command("clock")
@click.option("--reset", is_flag=True, help="Sign by this machine's clock again: make sure that it is right.")
@as_json_option
def command(reset: bool, as_json: bool) -> None:
    """Compare this machine's clock with that by which scores were signed.

    Nothing is signed while this one is more than a minute behind, since one of the two is wrong. If that one
    was ahead for a while, --reset lets signing go on, also in a running service. What was signed in that time
    stands: its names have to wait for their next score until their time has come.
    """
    now = time.time()
    with transaction(reading=not reset) as connection:
        newest = newest_time(connection)
        behind = max(math.ceil(newest - now), 0) if newest is not None else 0
        blocked = behind > MAX_LEAD
        names = names_ahead(connection, now)
        if reset and blocked:
            set_back(connection, now)
    if as_json:
        document = {"now": int(now), "newest": newest, "behind": behind, "reset": reset and blocked}
        click.echo(json.dumps({**document, "names": [name._asdict() for name in names]}))
    else:
        _explain(int(now), behind, blocked=blocked, reset=reset)
        for name in names:
            click.echo(f"{name.d}: no score before {date(name.until)} UTC")
    if blocked and not reset:
        sys.exit(1)


def _explain(now: int, behind: int, *, blocked: bool, reset: bool) -> None:
    here = f"This machine's clock reads {date(now)} UTC"
    if not blocked:
        click.echo(f"{here}, and scores can be signed by it: there is nothing to reset.")
        return
    click.echo(f"{here}, {behind} s behind a time at which a score was signed.")
    if reset:
        click.echo("Scores are signed by it from now on.")
    else:
        click.echo("If it is wrong, set it. If it is right, run `briscola-scores clock --reset`.")
