"""`key add|list|revoke`: API keys of game servers."""

from __future__ import annotations

import json
import time
from dataclasses import asdict

import click

from app.cli.names import parse_name
from app.cli.store import as_json_option, date, transaction
from app.cli.unusable import Unusable
from app.principal import PUBLISH_ANY, SCOPES
from app.store.api_keys import NoSuchKey, add_key, list_keys, revoke_key


@click.group("key")
def command() -> None:
    """API keys: who may post scores without signing in as a player."""


@command.command("add")
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    multiple=True,
    type=click.Choice(SCOPES),
    help="publish:any publishes also names that others own; admin deletes scores of others. May be repeated. "
    "Default: publish:any, or nothing with --name.",
)
@click.option(
    "--name",
    "names",
    multiple=True,
    metavar="USERNAME",
    type=parse_name,
    help="Limit the key to this username. May be repeated.",
)
@as_json_option
def add(name: str, scopes: tuple[str, ...], names: tuple[str, ...], as_json: bool) -> None:
    """Make a key for a game server called NAME and show it, this once."""
    if not name.strip() or len(name) > 100 or not name.isprintable():
        raise Unusable("NAME is what `key list` shows: give 1 to 100 printable characters")
    granted = tuple(dict.fromkeys(scopes)) or (() if names else (PUBLISH_ANY,))
    with transaction() as connection:
        key, text = add_key(connection, name.strip(), now=time.time(), scopes=granted, names=names or None)
    if as_json:
        shown = {"id": key.id, "name": key.name, "scopes": key.scopes, "names": key.names, "key": text}
        click.echo(json.dumps(shown))
        return
    click.echo(text)
    click.echo(f"That is the key {key.id} of {key.name}. Keep it now: it is not shown again.", err=True)


@command.command("list")
@as_json_option
def list_(as_json: bool) -> None:
    """Show every key, never the key itself."""
    with transaction() as connection:
        keys = list_keys(connection)
    if as_json:
        click.echo(json.dumps([asdict(key) for key in keys]))
        return
    if not keys:
        click.echo("No key yet: `briscola-scores key add NAME` makes one.", err=True)
        return
    click.echo(f"{'id':<18}{'made':<18}{'state':<26}{'scopes':<20}name")
    for key in keys:
        state = f"revoked {date(key.revoked_at)}" if key.revoked_at else "good"
        limit = "" if key.names is None else f" (only {', '.join(key.names)})"
        click.echo(
            f"{key.id:<18}{date(key.created_at):<18}{state:<26}{','.join(key.scopes):<20}{key.name}{limit}"
        )


@command.command("revoke")
@click.argument("key_id", metavar="ID")
def revoke(key_id: str) -> None:
    """Revoke the key with this ID; from now on nothing is signed with it."""
    try:
        with transaction() as connection:
            revoke_key(connection, key_id, now=time.time())
    except NoSuchKey as error:
        raise Unusable(str(error.args[0])) from None
    click.echo(f"Revoked {key_id}.")
