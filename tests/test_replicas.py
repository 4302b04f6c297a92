"""Two replicas share a PostgreSQL: what either answered outlives its crash, and the database's."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.store.database import Database
from tests.postgres import postgres_server
from tests.replicas import DURABLE, run

if TYPE_CHECKING:
    from pathlib import Path


async def test_no_answered_score_is_lost_or_signed_twice(tmp_path: Path) -> None:
    with postgres_server(*DURABLE) as server, server.database() as url:
        Database(url).close()
        await run(server, url, tmp_path, ["kill", "immediate", "kill"])
