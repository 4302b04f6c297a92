"""`outbox list|retry`: deliveries that are not done, and those that rest tried again."""

from __future__ import annotations

import json
import re
import time
from contextlib import contextmanager
from dataclasses import asdict
from typing import TYPE_CHECKING

import click

from app.cli.store import as_json_option, date, transaction
from app.cli.unusable import Unusable
from app.delivery.model import DeliveryState
from app.nostr.relay_url import InvalidRelayUrl, normalise_relay_url, shown_text
from app.store.backlog import (
    UNSETTLED,
    NoSuchEvent,
    NoSuchRelay,
    find_relays,
    list_deliveries,
    retry_event,
    retry_failed,
)

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import Connection

_ID = re.compile(r"[0-9a-f]{64}")


def parse_relay(text: str) -> str:
    """A relay's address in the one spelling that the store knows.

    Raises:
        Unusable: if it is none.
    """
    try:
        return normalise_relay_url(text)
    except InvalidRelayUrl as error:
        raise Unusable(f"the relay {shown_text(text)!r} {error}") from None


relay_option = click.option(
    "--relay", "relays", metavar="URL", multiple=True, type=parse_relay, help="Only this relay; repeatable."
)


@contextmanager
def _outbox(relays: Sequence[str], *, reading: bool = False) -> Iterator[tuple[Connection, list[str]]]:
    """A transaction on the store, and the relays that it knows by these URLs.

    Raises:
        Unusable: if it does not, or does not take it.
    """
    with transaction(reading=reading) as connection:
        try:
            found = find_relays(connection, relays)
        except NoSuchRelay as error:
            raise Unusable(str(error)) from None
        yield connection, found


@click.group("outbox")
def command() -> None:
    """The outbox: what has not reached every relay."""


@command.command("list")
@click.option(
    "--state",
    "states",
    multiple=True,
    type=click.Choice([state.value for state in DeliveryState]),
    help="Only this state; repeatable. Without it, all but accepted and superseded.",
)
@relay_option
@as_json_option
def list_(states: tuple[str, ...], relays: tuple[str, ...], as_json: bool) -> None:
    """Show deliveries, oldest first; with --json one object a line."""
    wanted = [DeliveryState(state) for state in states] or UNSETTLED
    count = 0
    with _outbox(relays, reading=True) as (connection, found):
        for count, one in enumerate(list_deliveries(connection, wanted, found), 1):
            if as_json:
                click.echo(json.dumps(asdict(one)))
                continue
            if count == 1:
                click.echo(f"{'state':<11}{'tries':>5}  {'signed':<18}{'event':<66}relay")
            click.echo(
                f"{one.state:<11}{one.attempts:>5}  {date(one.created_at):<18}{one.event_id:<66}{one.relay}"
            )
            if one.message:
                click.echo(f"{'':<18}{one.username}: {one.message}")
    if not count and not as_json:
        click.echo("Nothing waits: no delivery is in such a state.", err=True)


@command.command("retry")
@click.argument("event_ids", metavar="[ID]...", nargs=-1)
@relay_option
@click.option("--all", "everything", is_flag=True, help="Whatever has failed, at every relay.")
@as_json_option
def retry(event_ids: tuple[str, ...], relays: tuple[str, ...], everything: bool, as_json: bool) -> None:
    """Have deliveries that rest tried again, for another seven days.

    With --relay or --all, those that have failed; of the events with these IDs also what a relay has rejected
    or is in conflict over. A running service takes them up within seconds.
    """
    if bool(event_ids) + bool(relays) + everything != 1:
        raise Unusable("say what to retry: IDs of events, or --relay URL, or --all")
    for event_id in event_ids:
        if not _ID.fullmatch(event_id):
            raise Unusable(f"{event_id[:70]!r} is no event's id: give 64 lower-case hex digits")
    now = time.time()
    try:
        with _outbox(relays) as (connection, found):
            if event_ids:
                count = sum(retry_event(connection, event_id, now) for event_id in event_ids)
            else:
                count = retry_failed(connection, found, now)
    except NoSuchEvent as error:
        raise Unusable(f"no event with the id {error} was signed here: see `outbox list`") from None
    if as_json:
        click.echo(json.dumps({"retried": count}))
    elif count:
        click.echo(f"{count} {'delivery is' if count == 1 else 'deliveries are'} tried again from now on.")
    else:
        click.echo("Nothing was retried: no such delivery rests.", err=True)
