"""Bringing a database up to date, inside the transaction of a connection that holds off other writers."""

from __future__ import annotations

import threading
from pathlib import Path
from typing import TYPE_CHECKING

from alembic import command
from alembic.config import Config
from alembic.runtime.migration import MigrationContext
from alembic.script import ScriptDirectory
from alembic.util import CommandError

from app.store.errors import StoreUnusable

if TYPE_CHECKING:
    from sqlalchemy import Connection

SCRIPTS = Path(__file__).parent / "migrations"
# Alembic keeps the migration under way in a global.
_one_at_a_time = threading.Lock()


def upgrade(connection: Connection) -> tuple[str | None, str | None]:
    """Run every migration that the database lacks.

    Returns:
        The newest migration that it had before, None for an empty database, and that which it has now.

    Raises:
        StoreUnusable: if a newer release has written it.
    """
    config = Config()
    config.set_main_option("script_location", str(SCRIPTS).replace("%", "%%"))
    config.attributes["connection"] = connection
    head = ScriptDirectory.from_config(config).get_current_head()
    with _one_at_a_time:
        before = MigrationContext.configure(connection).get_current_revision()
        try:
            command.upgrade(config, "head")
        except CommandError:
            raise StoreUnusable(
                "the database was written by a newer release than this one (whose newest migration is "
                f"{head}): upgrade briscola-scores, or use another database"
            ) from None
    return before, head
