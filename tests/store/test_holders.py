"""Which process is alive."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from app.store import holders
from app.store.cursor import cursor_of
from tests.service import rows

if TYPE_CHECKING:
    from app.store.database import Database


@pytest.mark.parametrize(
    ("now", "dead"), [(1000.0, False), (1006.0, False), (1006.1, True), (994.0, False), (993.9, True)]
)
def test_a_process_is_dead_when_its_beat_is_six_seconds_away(
    database: Database, now: float, dead: bool
) -> None:
    with database.writer.begin() as connection:
        mine, other = holders.register(connection, 5.0), holders.register(connection, 1000.0)
        assert holders.any_dead(connection, mine, now) is dead
        assert holders.any_dead(connection, other, 5.0) is False, "its own silence is no death"


def test_a_beat_brings_back_a_process_that_was_cleared_away(database: Database, url: str) -> None:
    with database.writer.begin() as connection:
        mine, other = holders.register(connection, 1000.0), holders.register(connection, 2000.0)
        holders.release_dead(connection, other, 2000.0)
        holders.beat(cursor_of(connection), mine, 2001.5)
        holders.beat(cursor_of(connection), mine, 2002.5)
    assert rows(url, "SELECT id, beat FROM process ORDER BY id") == [
        (mine, 2002.5),
        (other, 2000.0),
    ]
