"""Reading scores back."""

from __future__ import annotations

from app.store.ledger import Signed
from app.store.scores import RelayState, StoredScore, find_score, latest_score
from tests.store.bench import PUBKEY, RELAYS, Bench

ONE, TWO = RELAYS


def test_a_score_is_read_with_every_relay(url: str) -> None:
    bench = Bench(url)
    first, second = (
        answer for answer in bench.append(("Alice", 1), ("bob", 2)) if isinstance(answer, Signed)
    )
    with bench.database.writer.begin() as connection:
        connection.exec_driver_sql(
            "UPDATE delivery SET state = 'rejected', message = 'pow: 20', attempts = 3 "
            "WHERE event_seq = 1 AND relay_id = 2"
        )
        found = find_score(connection, first.event.id)
        assert found == StoredScore(
            1, first.event.id, PUBKEY, "Alice", 1, first.payload,
            (RelayState(ONE, "pending"), RelayState(TWO, "rejected", "pow: 20", 3)),  # type: ignore[arg-type]
            None,
        )  # fmt: skip
        assert find_score(connection, "0" * 64) is None
        latest = latest_score(connection, "bob")
        assert latest is not None
        assert latest.event_id == second.event.id
        assert latest_score(connection, "Bob") is None, "an address is named by its d, which is lower case"
    bench.database.close()


def test_the_latest_is_the_newest_by_created_at(url: str) -> None:
    bench = Bench(url)
    answers = bench.append(("alice", 9), ("alice", 1), ("ALICE", 5))
    with bench.database.reader.begin() as connection:
        latest = latest_score(connection, "alice")
    assert latest is not None
    assert (latest.username, latest.score) == ("ALICE", 5)
    assert isinstance(answers[2], Signed)
    assert latest.event_id == answers[2].event.id
    bench.database.close()


def test_an_event_from_before_a_relay_was_added_has_no_state_there(url: str) -> None:
    bench = Bench(url)
    (signed,) = bench.append(("alice", 9))
    assert isinstance(signed, Signed)
    with bench.database.writer.begin() as connection:
        connection.exec_driver_sql("INSERT INTO relay (url) VALUES ('wss://three.example')")
        found = find_score(connection, signed.event.id)
    assert found is not None
    assert [relay.url for relay in found.relays] == [ONE, TWO]
    bench.database.close()
