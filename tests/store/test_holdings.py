"""What relays should hold, and what they are sent again."""

from __future__ import annotations

from app.store.holdings import (
    NewestEvent,
    Standing,
    known_ids,
    newest_events,
    payloads,
    send_again,
    standings,
)
from app.store.ledger import Signed
from tests.service import rows
from tests.store.bench import RELAYS, Bench


def test_the_newest_of_every_address(url: str) -> None:
    bench = Bench(url)
    with bench.database.reader.begin() as connection:
        assert newest_events(connection) == []
    signed = [one for one in bench.append(("alice", 1), ("bob", 2), ("Alice", 3)) if isinstance(one, Signed)]
    _, bob, alice = (one.event for one in signed)
    with bench.database.reader.begin() as connection:
        assert sorted(newest_events(connection)) == [
            NewestEvent(2, bob.id, "bob", 1000),
            NewestEvent(3, alice.id, "alice", 1001),
        ]
        assert known_ids(connection, [bob.id, "0" * 64]) == {bob.id}
        assert known_ids(connection, [f"{number:064x}" for number in range(1200)]) == set()
        assert payloads(connection, [2, 9]) == {2: signed[1].payload}
    bench.database.close()


def test_sending_again(url: str) -> None:
    bench = Bench(url)
    bench.append(("alice", 1), ("bob", 2), ("carla", 3), ("dora", 4))
    with bench.database.writer.begin() as connection:
        for change in (
            "DELETE FROM delivery WHERE event_seq = 1",
            "UPDATE delivery SET state = 'accepted', due = NULL WHERE event_seq = 2",
            "UPDATE delivery SET holder = 7, attempts = 2, due = 5 WHERE event_seq = 3",
            "UPDATE delivery SET attempts = 3, due = 5000, message = 'slow' WHERE event_seq = 4",
        ):
            connection.exec_driver_sql(change)
        assert standings(connection, RELAYS[0], [1, 2, 3, 4]) == {
            2: Standing("accepted", "", False),  # type: ignore[arg-type]
            3: Standing("pending", "", True),  # type: ignore[arg-type]
            4: Standing("pending", "slow", False),  # type: ignore[arg-type]
        }
        send_again(connection, RELAYS[0], [1, 2, 3, 4], 2000.0)
    columns = "event_seq, state, message, attempts, due, holder, failing_since"
    query = f"SELECT {columns} FROM delivery WHERE relay_id = ? ORDER BY event_seq"
    assert rows(bench.path, query, 1) == [
        (1, "pending", "", 0, 2000.0, None, 2000.0),
        (2, "pending", "", 0, 2000.0, None, 2000.0),
        (3, "pending", "", 2, 5.0, 7, None),
        (4, "pending", "", 0, 2000.0, None, 2000.0),
    ]
    assert len(rows(bench.path, query, 2)) == 3, "another relay is sent nothing"
    with bench.database.writer.begin() as connection:
        send_again(connection, "wss://new.example", [2], 2000.0)
    assert rows(bench.path, query, 3) == [(2, "pending", "", 0, 2000.0, None, 2000.0)]
    bench.database.close()
