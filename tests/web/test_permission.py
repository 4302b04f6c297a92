"""Whose name it is and which names a key may use, over HTTP."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import pytest

from app.principal import ADMIN, PUBLISH_ANY, Principal
from app.store.database import Database
from app.store.names import ban_name
from app.web.permission import require_name, require_publisher
from app.web.problems import Problem
from tests.service import assert_problem, make_key, rows, running

if TYPE_CHECKING:
    from pathlib import Path

    import httpx

    from tests.service import Running


async def post(service: Running, token: str, username: str, score: int = 72) -> httpx.Response:
    return await service.post(username, score, Authorization=f"Bearer {token}")


def key(service: Running, *names: str, scopes: tuple[str, ...] = ()) -> tuple[str, str]:
    """The principal's id, and the token."""
    key_id, token = make_key(service.path, scopes=scopes, names=names or None)
    return f"key:{key_id}", token


def owners(service: Running) -> list[tuple[str, str]]:
    return rows(service.path, "SELECT d, owner FROM name ORDER BY d")


async def test_another_players_name_is_taken_in_every_spelling(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        owner, first = key(service, "alice")
        _, second = key(service, "alice", "bob")
        assert (await post(service, first, "Alice")).status_code == 201
        for spelling in ("Alice", "alice", "ALICE"):
            problem = assert_problem(await post(service, second, spelling), 403, "name-taken")
            assert problem["detail"].startswith("The name 'alice' belongs to another player")
        assert (await post(service, second, "bob")).status_code == 201
        assert (await post(service, first, "ALICE")).status_code == 201
        assert owners(service)[0] == ("alice", owner)
        assert service.count() == 3


async def test_of_fifty_players_at_once_one_gets_the_name(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        keys = [key(service, "alice") for _ in range(50)]
        answers = await asyncio.gather(*(post(service, token, "Alice") for _, token in keys))
        (winner,) = [
            owner for (owner, _), answer in zip(keys, answers, strict=True) if answer.status_code == 201
        ]
        for answer in answers:
            if answer.status_code != 201:
                assert_problem(answer, 403, "name-taken")
        assert owners(service) == [("alice", winner)]
        assert service.count() == 1


async def test_a_key_for_any_name_publishes_an_owned_name(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        owner, token = key(service, "alice")
        await post(service, token, "alice")
        assert (await service.post("alice", 50)).status_code == 201
        assert owners(service) == [("alice", owner)]
        assert (await service.post("carol", 50)).status_code == 201
        assert ("carol", f"key:{service.key_id}") in owners(service)


async def test_a_key_is_limited_to_the_names_that_it_lists(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        for scopes in ((), (PUBLISH_ANY,), (PUBLISH_ANY, ADMIN)):
            _, token = key(service, "alice", "zoë", scopes=scopes)
            problem = assert_problem(await post(service, token, "bob"), 403, "forbidden")
            assert "limited to other names" in problem["detail"]
        assert (await post(service, token, "Zoë")).status_code == 201
        assert (await post(service, token, "ALICE")).status_code == 201


async def test_a_limited_key_for_any_name_publishes_an_owned_name_among_its_own(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        owner, token = key(service, "alice")
        await post(service, token, "alice")
        _, server = key(service, "alice", scopes=(PUBLISH_ANY,))
        assert (await post(service, server, "alice")).status_code == 201
        assert owners(service) == [("alice", owner)]


async def test_an_admin_is_no_player(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        _, token = key(service, scopes=(ADMIN,))
        problem = assert_problem(await post(service, token, "alice"), 403, "forbidden")
        assert "use one with the scope publish:any" in problem["detail"]
        assert owners(service) == []
        assert service.count() == 0


async def test_a_banned_name_is_nobodys(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        database = Database(f"sqlite:///{service.path}")
        with database.writer.begin() as connection:
            ban_name(connection, "alice")
        database.close()
        problem = assert_problem(await service.post("Alice", 72), 403, "name-banned")
        assert "'alice' is banned here" in problem["detail"]
        assert service.count() == 0


def test_an_account_publishes_under_its_own_username_spelled_so() -> None:
    account = Principal("jwt:https://id.example|7", username="Alice")
    require_publisher(account, "Alice")
    for other in ("alice", "bob"):
        with pytest.raises(Problem, match="signed in as 'Alice'"):
            require_publisher(account, other)


def test_a_nostr_key_may_try_every_name() -> None:
    require_publisher(Principal("nostr:" + "0" * 64), "alice")
    require_name(Principal("nostr:" + "0" * 64), "alice")
