"""What the commands share that work on the store alone."""

from __future__ import annotations

from contextlib import contextmanager
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import click

from app.cli.common import load_settings
from app.cli.unusable import Unusable
from app.config import StoreSettings
from app.store.database import Database, database_fault
from app.store.errors import StoreError, on_one_line

if TYPE_CHECKING:
    from collections.abc import Iterator

    from sqlalchemy import Connection

as_json_option = click.option("--json", "as_json", is_flag=True, help="Print JSON.")


@contextmanager
def transaction(*, reading: bool = False) -> Iterator[Connection]:
    """A transaction on the store that the settings name.

    Args:
        reading: it only reads, and keeps nobody from writing however long it takes.

    Raises:
        Unusable: if the store cannot be opened or does not take it.
    """
    try:
        database = Database(load_settings(StoreSettings).database_url)
    except StoreError as error:
        raise Unusable(str(error)) from None
    try:
        with (database.reader if reading else database.writer).begin() as connection:
            yield connection
    except Exception as error:
        if (fault := database_fault(database.writer, error)) is None:
            raise
        raise Unusable(f"the database does not take it: {on_one_line(fault)}") from None
    finally:
        database.close()


@contextmanager
def reading(database: Database) -> Iterator[Connection]:
    """A reading transaction on an open database.

    Raises:
        Unusable: if it does not answer.
    """
    try:
        with database.reader.begin() as connection:
            yield connection
    except Exception as error:
        if (fault := database_fault(database.reader, error)) is None:
            raise
        raise Unusable(f"the database does not answer: {on_one_line(fault)}") from None


def date(seconds: int) -> str:
    """A time in a table, UTC, to the minute."""
    return datetime.fromtimestamp(seconds, UTC).strftime("%Y-%m-%d %H:%M")
