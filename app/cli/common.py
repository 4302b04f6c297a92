"""What commands share: how they end on unusable input, load settings and change the store."""

from __future__ import annotations

import asyncio
import sys
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Any, TypeVar

import click

from app.cli.unusable import Unusable
from app.config import EnvironmentSettings, InvalidSettings, StoreSettings, load

if TYPE_CHECKING:
    from collections.abc import Coroutine, Iterator, Mapping

    from sqlalchemy import Connection

S = TypeVar("S", bound=EnvironmentSettings)
T = TypeVar("T")

as_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


def load_settings(kind: type[S], environ: Mapping[str, str] | None = None) -> S:
    """Settings from the environment; warnings go to stderr.

    Raises:
        Unusable: with every fault.
    """
    try:
        settings, warnings = load(kind, environ)
    except InvalidSettings as error:
        raise Unusable("the settings cannot be used:\n  " + "\n  ".join(error.faults)) from None
    for warning in warnings:
        click.echo(f"Warning: {warning}", file=sys.stderr)
    return settings


@contextmanager
def transaction() -> Iterator[Connection]:
    """A writing transaction on the store that the settings name.

    Raises:
        Unusable: if the store cannot be opened or does not take it.
    """
    # Imported here, because commands that know no store load this module too.
    from sqlalchemy.exc import DBAPIError

    from app.store.database import Database
    from app.store.errors import StoreError

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


def date(seconds: int) -> str:
    """A time in a table, UTC, to the minute."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")


def run_loop(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on the fastest event loop that is here."""
    try:
        import uvloop
    except ImportError:
        return asyncio.run(main)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(main)
