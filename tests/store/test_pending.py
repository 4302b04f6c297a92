"""What waits in the store, relay by relay."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.store.outbox import retire_relays
from app.store.pending import Pending, read_pending
from tests.store.bench import RELAYS, Bench

if TYPE_CHECKING:
    from pathlib import Path

ONE, TWO = RELAYS


def test_what_waits_and_since_when(url: str) -> None:
    bench = Bench(url)
    with bench.database.reader.begin() as connection:
        assert read_pending(connection) == {}
    bench.append(("alice", 1))
    bench.now = 1010.0
    bench.append(("bob", 2), ("carla", 3))
    with bench.database.writer.begin() as connection:
        assert read_pending(connection) == {ONE: Pending(3, 1000.0), TWO: Pending(3, 1000.0)}
        settle = "UPDATE delivery SET state = 'accepted', due = NULL WHERE relay_id = 1 AND event_seq = 1"
        connection.exec_driver_sql(settle)
        connection.exec_driver_sql("UPDATE delivery SET holder = 7 WHERE relay_id = 2 AND event_seq = 3")
        assert read_pending(connection) == {ONE: Pending(2, 1010.0), TWO: Pending(2, 1000.0)}
        retire_relays(connection, [ONE], 1010.0)
        assert read_pending(connection) == {ONE: Pending(2, 1010.0)}, "nobody sends to the other any more"
    bench.database.close()


def test_only_what_waits_is_read(tmp_path: Path) -> None:
    """So that a store with millions of settled deliveries answers at once."""
    bench = Bench(tmp_path / "s.db")
    statements: list[str] = []
    with bench.database.reader.begin() as connection:
        driver = connection.connection.driver_connection
        assert driver is not None
        driver.set_trace_callback(statements.append)
        read_pending(connection)
        driver.set_trace_callback(None)
        (query,) = statements
        plan = [row[3] for row in connection.exec_driver_sql(f"EXPLAIN QUERY PLAN {query}")]
    (read,) = [step for step in plan if "delivery" in step]
    assert read.startswith("SCAN delivery USING")
    assert read.endswith("INDEX ix_delivery_waiting")
    bench.database.close()
