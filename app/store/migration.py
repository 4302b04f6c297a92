"""Bringing a database up to date, inside the transaction of a connection that holds off other writers."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from sqlalchemy import inspect

from app.store.errors import StoreUnusable

if TYPE_CHECKING:
    from sqlalchemy import Connection

SCRIPTS = Path(__file__).parent / "migrations"
# Alembic keeps the migration under way in a global.
_one_at_a_time = threading.Lock()


def upgrade(connection: Connection) -> tuple[str | None, str]:
    """Run every migration that the database lacks.

    Returns:
        The newest migration that it had before, None for an empty database, and that which it has now.

    Raises:
        StoreUnusable: if a newer release has written it.
    """
    before, newest = _revision(connection), newest_revision()
    if before != newest:
        _run(connection, newest)
    return before, newest


def newest_revision() -> str:
    """The newest migration there is: their files' names begin with their numbers."""
    return max(script.name.partition("_")[0] for script in (SCRIPTS / "versions").glob("[0-9]*.py"))


def _revision(connection: Connection) -> str | None:
    if not inspect(connection).has_table("alembic_version"):
        return None
    revision: str | None = connection.exec_driver_sql("SELECT version_num FROM alembic_version").scalar()
    return revision


def _run(connection: Connection, newest: str) -> None:
    # Here, because it takes 6 MiB and a tenth of a second that a database which is up to date does not need.
    from alembic import command
    from alembic.config import Config
    from alembic.util import CommandError

    config = Config()
    config.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    config.attributes["connection"] = connection
    try:
        with _one_at_a_time:
            command.upgrade(config, "head")
    except CommandError:
        raise StoreUnusable(
            "the database was written by a newer release than this one (whose newest migration is "
            f"{newest}): upgrade briscola-scores, or use another database"
        ) from None
