"""`migrate`: bring the database up to date, as `serve` does when it starts."""

from __future__ import annotations

import click

from app.cli.common import load_settings
from app.cli.unusable import Unusable
from app.config import StoreSettings
from app.store.database import Database
from app.store.errors import StoreError


@click.command("migrate")
def command() -> None:
    """Bring the database up to date.

    Every command that opens the store does so by itself; this one is for a role that may make tables, where
    the service's own may not. Run again, it changes nothing.
    """
    try:
        database = Database(load_settings(StoreSettings).database_url)
    except StoreError as error:
        raise Unusable(str(error)) from None
    database.close()
    before, after = database.migrated
    click.echo(
        f"The database is at {after} already." if before == after else f"{before or 'empty'} -> {after}"
    )
