"""Deleting a score: who may, what it covers, and what stands afterwards."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest
from sqlalchemy import text

from app.store.api_keys import add_key, revoke_key
from app.store.journal import Signed
from app.store.ledger import NotImproved
from app.store.names import ban_name, release_name
from app.store.outbox import StoreOutbox, register_relays
from app.store.refusals import ClockBehind, KeyRevoked, NothingToDelete, NotOwner, TooFast
from app.store.scores import find_score, latest_score
from app.store.store import Store
from tests.clock import Clock
from tests.store.players import RELAYS, admin, deletion, game_server, make_ledger, player, request

if TYPE_CHECKING:
    from app.delivery.model import DeliveryState
    from app.principal import Principal
    from app.store.database import Database
    from app.store.ledger import Deletion, Ledger, Request
    from app.store.refusals import Refused

T = 1_700_000_000


@pytest.fixture
def clock() -> Clock:
    return Clock(T + 0.5)


@pytest.fixture
def ledger(database: Database, clock: Clock) -> Ledger:
    return make_ledger(database, clock)


def make_key(database: Database, name: str) -> str:
    with database.writer.begin() as connection:
        return add_key(connection, name, now=T)[0].id


@pytest.fixture
def boss(database: Database) -> Principal:
    return admin(make_key(database, "boss"))


def publish(database: Database, ledger: Ledger, asked: Request) -> Signed:
    with database.writer.begin() as connection:
        (answer,) = ledger.append(connection, [asked])
    assert isinstance(answer, Signed)
    return answer


def delete(database: Database, ledger: Ledger, *asked: Deletion) -> list[Signed | Refused]:
    with database.writer.begin() as connection:
        return ledger.delete(connection, asked)


def deleted(database: Database, ledger: Ledger, asked: Deletion) -> Signed:
    (answer,) = delete(database, ledger, asked)
    assert isinstance(answer, Signed)
    return answer


def states(database: Database) -> list[list[str]]:
    """The states of each event's two deliveries, oldest event first."""
    query = text("SELECT state FROM delivery ORDER BY event_seq, relay_id")
    with database.reader.begin() as connection:
        flat: list[DeliveryState] = list(connection.execute(query).scalars())
    return [list(pair) for pair in zip(flat[::2], flat[1::2], strict=True)]


def test_a_deletion_takes_the_next_second_and_ends_what_was_pending(
    database: Database, ledger: Ledger
) -> None:
    for score in (1, 2, 3):
        publish(database, ledger, request(player(1), "Alice", score))
    signed = deleted(database, ledger, deletion(player(1), "ALICE"))
    assert signed.event.kind == 5
    assert signed.event.created_at == T + 3
    assert signed.event.tags == (("a", f"31250:{signed.event.pubkey}:alice"), ("k", "31250"))
    assert states(database) == [["superseded"] * 2] * 3 + [["pending"] * 2]


def test_a_later_score_comes_after_the_deletion_and_leaves_it_to_be_delivered(
    database: Database, ledger: Ledger
) -> None:
    publish(database, ledger, request(player(1), "alice"))
    deleted(database, ledger, deletion(player(1), "alice"))
    assert publish(database, ledger, request(player(1), "alice")).event.created_at == T + 2
    assert publish(database, ledger, request(player(1), "alice")).event.created_at == T + 3
    assert states(database) == [["superseded"] * 2, ["pending"] * 2, ["superseded"] * 2, ["pending"] * 2]


def test_every_version_before_is_deleted_and_none_after(database: Database, ledger: Ledger) -> None:
    old = [publish(database, ledger, request(player(1), "alice", n)).event.id for n in range(2)]
    other = publish(database, ledger, request(player(1), "bob")).event.id
    first = deleted(database, ledger, deletion(player(1), "alice")).event
    between = publish(database, ledger, request(player(1), "alice", 5)).event.id
    second = deleted(database, ledger, deletion(player(1), "alice")).event
    after = publish(database, ledger, request(player(1), "alice", 6)).event.id
    with database.reader.begin() as connection:
        found = {i: find_score(connection, i) for i in (*old, other, between, after, first.id, second.id)}
        latest = latest_score(connection, "alice")
    at = {event_id: stored.deleted_at for event_id, stored in found.items() if stored}
    assert at == {
        old[0]: T + 2,
        old[1]: T + 2,
        other: None,
        between: T + 4,
        after: None,
        first.id: None,
        second.id: None,
    }
    assert latest is not None
    assert (latest.event_id, latest.deleted_at) == (after, None)


def test_the_latest_score_is_known_to_be_deleted(database: Database, ledger: Ledger) -> None:
    score = publish(database, ledger, request(player(1), "Alice", 72)).event
    deleted(database, ledger, deletion(player(1), "alice"))
    with database.reader.begin() as connection:
        latest = latest_score(connection, "alice")
    assert latest is not None
    assert (latest.event_id, latest.username, latest.score) == (score.id, "Alice", 72)
    assert latest.deleted_at == T + 1


def test_the_policy_best_starts_anew(database: Database, clock: Clock) -> None:
    ledger = make_ledger(database, clock, best=True)
    publish(database, ledger, request(player(1), "alice", 100))
    deleted(database, ledger, deletion(player(1), "alice"))
    low = publish(database, ledger, request(player(1), "alice", 0)).event
    with database.writer.begin() as connection:
        assert ledger.append(connection, [request(player(1), "alice", 0)]) == [NotImproved(low.id)]


def test_the_owner_stays_the_owner(database: Database, ledger: Ledger, boss: Principal) -> None:
    publish(database, ledger, request(player(1), "alice"))
    deleted(database, ledger, deletion(boss, "alice"))
    with database.writer.begin() as connection:
        (refusal,) = ledger.append(connection, [request(player(2), "alice")])
    assert "belongs to another player" in str(refusal)
    publish(database, ledger, request(player(1), "alice"))


def test_only_owner_and_admin_may_delete(database: Database, ledger: Ledger, boss: Principal) -> None:
    server = game_server(make_key(database, "server"))
    publish(database, ledger, request(player(1), "alice"))
    for stranger in (player(2), server):
        (answer,) = delete(database, ledger, deletion(stranger, "alice"))
        assert isinstance(answer, NotOwner)
        assert "'alice' is not yours" in str(answer)
    assert len(states(database)) == 1
    deleted(database, ledger, deletion(boss, "alice"))


def test_a_game_server_deletes_what_it_owns(database: Database, ledger: Ledger) -> None:
    server = game_server(make_key(database, "server"))
    publish(database, ledger, request(server, "alice"))
    deleted(database, ledger, deletion(server, "alice"))


def test_a_released_name_is_an_admins_to_delete(database: Database, ledger: Ledger, boss: Principal) -> None:
    publish(database, ledger, request(player(1), "alice"))
    with database.writer.begin() as connection:
        release_name(connection, "alice")
    assert isinstance(delete(database, ledger, deletion(player(1), "alice"))[0], NotOwner)
    deleted(database, ledger, deletion(boss, "alice"))


def test_a_banned_names_score_can_be_deleted(database: Database, ledger: Ledger) -> None:
    publish(database, ledger, request(player(1), "alice"))
    with database.writer.begin() as connection:
        ban_name(connection, "alice")
    deleted(database, ledger, deletion(player(1), "alice"))


def test_what_never_was_and_what_is_deleted_are_not_deleted_again(
    database: Database, ledger: Ledger, boss: Principal
) -> None:
    publish(database, ledger, request(player(1), "alice"))
    first, again, never = delete(
        database, ledger, deletion(boss, "alice"), deletion(player(1), "Alice"), deletion(boss, "nobody")
    )
    assert isinstance(first, Signed)
    assert isinstance(again, NothingToDelete)
    assert isinstance(never, NothingToDelete)
    assert (again.deleted_at, never.deleted_at) == (T + 1, None)
    assert len(states(database)) == 2


def test_a_revoked_key_deletes_nothing(database: Database, ledger: Ledger, boss: Principal) -> None:
    publish(database, ledger, request(player(1), "alice"))
    with database.writer.begin() as connection:
        revoke_key(connection, str(boss.key_id), now=T)
    assert isinstance(delete(database, ledger, deletion(boss, "alice"))[0], KeyRevoked)


def test_a_deletion_keeps_within_the_lead_and_waits_for_the_clock(
    database: Database, ledger: Ledger, clock: Clock
) -> None:
    for _ in range(61):
        publish(database, ledger, request(player(1), "alice"))
    (refusal,) = delete(database, ledger, deletion(player(1), "alice"))
    assert isinstance(refusal, TooFast)
    assert refusal.retry_after == 1
    clock.now += 1
    assert deleted(database, ledger, deletion(player(1), "alice")).event.created_at == T + 61
    clock.now -= 3600
    assert isinstance(delete(database, ledger, deletion(player(1), "alice"))[0], ClockBehind)


async def test_a_relay_that_calls_a_deletion_replaced_is_wrong(database: Database, ledger: Ledger) -> None:
    old = publish(database, ledger, request(player(1), "alice")).event
    gone = deleted(database, ledger, deletion(player(1), "alice")).event
    publish(database, ledger, request(player(1), "alice"))
    store = Store(database)
    outbox = StoreOutbox(store, holder=1, relays={}, clock=lambda: T)
    assert await outbox.has_newer(old.id)
    assert not await outbox.has_newer(gone.id)
    await store.close()


async def test_a_later_score_does_not_push_a_deletion_out_of_the_queue(
    database: Database, ledger: Ledger, clock: Clock
) -> None:
    """What waits for a relay is dropped for what is newer at the same address; a deletion is at none."""
    with database.writer.begin() as connection:
        relays = register_relays(connection, RELAYS)
    publish(database, ledger, request(player(1), "alice"))
    gone = deleted(database, ledger, deletion(player(1), "alice")).event
    later = publish(database, ledger, request(player(1), "alice")).event
    store = Store(database)
    outbox = StoreOutbox(store, holder=1, relays=relays, clock=clock)
    claimed = await outbox.claim(RELAYS[0], now=clock.now, limit=10)
    assert [delivery.event_id for delivery in claimed] == [gone.id, later.id]
    assert len({delivery.address for delivery in claimed}) == 2
    assert claimed[1].address == f"31250:{later.pubkey}:alice"
    await store.close()
