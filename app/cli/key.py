"""`key add|list|revoke`: API keys of game servers."""

from __future__ import annotations

import json
import time
from contextlib import contextmanager
from dataclasses import asdict
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click
from sqlalchemy.exc import DBAPIError

from app.cli.common import load_settings
from app.cli.unusable import Unusable
from app.config import StoreSettings
from app.store.api_keys import NoSuchKey, add_key, list_keys, revoke_key
from app.store.database import Database
from app.store.errors import StoreError

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

_as_json = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@contextmanager
def _transaction() -> Iterator[Connection]:
    try:
        database = Database(load_settings(StoreSettings).database_url)
    except StoreError as error:
        raise Unusable(str(error)) from None
    try:
        with database.writer.begin() as connection:
            yield connection
    except DBAPIError as error:
        raise Unusable(f"the database does not take it: {error.orig}") from None
    finally:
        database.close()


@click.group("key")
def command() -> None:
    """API keys: who may post scores for any name."""


@command.command("add")
@click.argument("name")
@_as_json
def add(name: str, as_json: bool) -> None:
    """Make a key for a game server called NAME and show it, this once."""
    if not name.strip() or len(name) > 100 or not name.isprintable():
        raise Unusable("NAME is what `key list` shows: give 1 to 100 printable characters")
    with _transaction() as connection:
        key, text = add_key(connection, name.strip(), now=time.time())
    if as_json:
        click.echo(json.dumps({"id": key.id, "name": key.name, "scopes": key.scopes, "key": text}))
        return
    click.echo(text)
    click.echo(f"That is the key {key.id} of {key.name}. Keep it now: it is not shown again.", err=True)


@command.command("list")
@_as_json
def list_(as_json: bool) -> None:
    """Show every key, never the key itself."""
    with _transaction() as connection:
        keys = list_keys(connection)
    if as_json:
        click.echo(json.dumps([asdict(key) for key in keys]))
        return
    if not keys:
        click.echo("No key yet: `briscola-scores key add NAME` makes one.", err=True)
        return
    click.echo(f"{'id':<18}{'made':<18}{'state':<26}name")
    for key in keys:
        state = f"revoked {_date(key.revoked_at)}" if key.revoked_at else "good"
        click.echo(f"{key.id:<18}{_date(key.created_at):<18}{state:<26}{key.name}")


@command.command("revoke")
@click.argument("key_id", metavar="ID")
def revoke(key_id: str) -> None:
    """Revoke the key with this ID; from now on nothing is signed with it."""
    try:
        with _transaction() as connection:
            revoke_key(connection, key_id, now=time.time())
    except NoSuchKey as error:
        raise Unusable(str(error.args[0])) from None
    click.echo(f"Revoked {key_id}.")


def _date(seconds: int) -> str:
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")
