"""Who owns a name: the first to publish it, however many ask at once, until the operator says otherwise."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import pytest

from app.store.api_keys import add_key
from app.store.journal import Signed
from app.store.names import CannotChange, Name, ban_name, list_names, release_name, transfer_name
from app.store.refusals import NameBanned, NameTaken
from app.store.store import Store
from tests.store.players import game_server, make_ledger, opened, player, request

if TYPE_CHECKING:
    from sqlalchemy import Connection

    from app.principal import Principal
    from app.store.database import Database
    from app.store.ledger import Answer, Ledger, Request

NOW = 1_700_000_000.5


@pytest.fixture
def ledger(database: Database) -> Ledger:
    return make_ledger(database, lambda: NOW)


@pytest.fixture
def server(database: Database) -> Principal:
    with database.writer.begin() as connection:
        return game_server(add_key(connection, "server", now=NOW)[0].id)


def append(database: Database, ledger: Ledger, *requests: Request) -> list[Answer]:
    with database.writer.begin() as connection:
        return ledger.append(connection, requests)


def names(database: Database) -> list[Name]:
    with database.reader.begin() as connection:
        return list_names(connection)


def events(connection: Connection) -> int:
    return int(connection.exec_driver_sql("SELECT count(*) FROM event").scalar_one())


# publishing


def test_the_first_to_publish_a_name_owns_it_in_every_spelling(database: Database, ledger: Ledger) -> None:
    assert isinstance(append(database, ledger, request(player(1), "Alice"))[0], Signed)
    assert names(database) == [Name("alice", player(1).id, 1_700_000_000, banned=False)]
    for spelling in ("Alice", "alice", "ALICE", "aLICE"):
        (answer,) = append(database, ledger, request(player(2), spelling))
        assert isinstance(answer, NameTaken)
        assert "'alice' belongs to another player" in str(answer)
        assert isinstance(append(database, ledger, request(player(1), spelling))[0], Signed)
    with database.reader.begin() as connection:
        assert events(connection) == 5


def test_of_two_in_one_batch_the_first_owns_the_name(database: Database, ledger: Ledger) -> None:
    answers = append(
        database,
        ledger,
        request(player(1), "bob"),
        request(player(2), "BOB"),
        request(player(2), "carol"),
        request(player(1), "bob"),
    )
    assert [type(answer) for answer in answers] == [Signed, NameTaken, Signed, Signed]
    assert [(name.name, name.owner) for name in names(database)] == [
        ("bob", player(1).id),
        ("carol", player(2).id),
    ]


def test_one_player_may_own_several_names(database: Database, ledger: Ledger) -> None:
    append(database, ledger, *(request(player(1), name) for name in ("a", "b", "c")))
    assert {name.owner for name in names(database)} == {player(1).id}


def test_a_key_for_any_name_publishes_owned_names_without_taking_them(
    database: Database, ledger: Ledger, server: Principal
) -> None:
    append(database, ledger, request(player(1), "alice"))
    assert isinstance(append(database, ledger, request(server, "alice"))[0], Signed)
    assert names(database)[0].owner == player(1).id
    assert isinstance(append(database, ledger, request(player(1), "alice"))[0], Signed)


def test_a_key_for_any_name_owns_a_name_that_it_published_first(
    database: Database, ledger: Ledger, server: Principal
) -> None:
    append(database, ledger, request(server, "alice"))
    assert names(database)[0].owner == server.id
    assert isinstance(append(database, ledger, request(player(1), "alice"))[0], NameTaken)


def test_this_process_itself_owns_nothing(database: Database, ledger: Ledger) -> None:
    append(database, ledger, request(None, "alice"))
    assert names(database) == []
    append(database, ledger, request(player(1), "alice"))
    assert isinstance(append(database, ledger, request(None, "alice"))[0], Signed)
    assert names(database)[0].owner == player(1).id


def test_what_is_not_signed_takes_no_name(database: Database) -> None:
    ledger = make_ledger(database, lambda: NOW, best=True)
    append(database, ledger, request(player(1), "alice", 72))
    with database.writer.begin() as connection:
        release_name(connection, "alice")
    append(database, ledger, request(player(2), "alice", 71))
    assert names(database) == []
    append(database, ledger, request(player(3), "alice", 73))
    assert names(database)[0].owner == player(3).id


async def test_of_fifty_at_once_in_two_processes_one_owns_the_name(url: str) -> None:
    path = url
    with opened(path) as one, opened(path) as other:
        ledgers = [make_ledger(one, time.time), make_ledger(other, time.time)]
        stores = [Store(one), Store(other)]
        answers = await asyncio.gather(
            *(
                stores[number % 2].write(ledgers[number % 2].append, request(player(number), "Alice"))
                for number in range(50)
            ),
            return_exceptions=True,
        )
        signed = [number for number, answer in enumerate(answers) if isinstance(answer, Signed)]
        assert len(signed) == 1
        assert sum(isinstance(answer, NameTaken) for answer in answers) == 49
        assert [name.owner for name in names(one)] == [player(signed[0]).id]
        for store in stores:
            await store.close()


# operators


def test_a_transferred_name_is_the_new_owners_alone(database: Database, ledger: Ledger) -> None:
    append(database, ledger, request(player(1), "alice"))
    with database.writer.begin() as connection:
        before = transfer_name(connection, "alice", player(2).id, now=NOW + 7)
    assert before == Name("alice", player(1).id, 1_700_000_000, banned=False)
    assert names(database) == [Name("alice", player(2).id, 1_700_000_007, banned=False)]
    assert isinstance(append(database, ledger, request(player(1), "alice"))[0], NameTaken)
    assert isinstance(append(database, ledger, request(player(2), "alice"))[0], Signed)


def test_a_name_can_be_kept_for_somebody(database: Database, ledger: Ledger) -> None:
    with database.writer.begin() as connection:
        assert transfer_name(connection, "alice", player(2).id, now=NOW) is None
    assert isinstance(append(database, ledger, request(player(1), "Alice"))[0], NameTaken)
    assert isinstance(append(database, ledger, request(player(2), "Alice"))[0], Signed)


def test_a_released_name_is_the_next_publishers(database: Database, ledger: Ledger) -> None:
    append(database, ledger, request(player(1), "alice"))
    with database.writer.begin() as connection:
        assert release_name(connection, "alice").owner == player(1).id
    assert names(database) == []
    assert isinstance(append(database, ledger, request(player(2), "alice"))[0], Signed)
    assert isinstance(append(database, ledger, request(player(1), "alice"))[0], NameTaken)


def test_nobody_publishes_a_banned_name(database: Database, ledger: Ledger, server: Principal) -> None:
    append(database, ledger, request(player(1), "alice"))
    with database.writer.begin() as connection:
        assert ban_name(connection, "alice").owner == player(1).id
        assert ban_name(connection, "alice").owner == player(1).id
        assert ban_name(connection, "fresh").owner is None
    for who in (player(1), player(2), server, None):
        for name in ("Alice", "FRESH"):
            (answer,) = append(database, ledger, request(who, name))
            assert isinstance(answer, NameBanned)
            assert "is banned" in str(answer)
    with database.reader.begin() as connection:
        assert events(connection) == 1


def test_releasing_a_banned_name_lifts_the_ban(database: Database, ledger: Ledger) -> None:
    with database.writer.begin() as connection:
        ban_name(connection, "alice")
        assert release_name(connection, "alice").banned
    assert isinstance(append(database, ledger, request(player(1), "alice"))[0], Signed)


def test_a_banned_name_is_not_transferred(database: Database) -> None:
    with database.writer.begin() as connection:
        ban_name(connection, "alice")
        with pytest.raises(CannotChange, match="'alice' is banned: `names release` lifts the ban"):
            transfer_name(connection, "alice", player(1).id, now=NOW)


def test_there_must_be_something_to_release(database: Database) -> None:
    with (
        database.writer.begin() as connection,
        pytest.raises(CannotChange, match="nobody owns the name 'alice' and it is not banned"),
    ):
        release_name(connection, "alice")
