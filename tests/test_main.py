"""The service put together: shared commits, a store that fails and comes back, starting and stopping."""

from __future__ import annotations

import asyncio
import json
import ssl
import threading
from typing import TYPE_CHECKING, Any

import pytest
from sqlalchemy import create_engine, event, text

from app.delivery.connection import tls_context
from app.main import open_service
from app.scores.score import Claim
from app.store import sqlite
from app.store.errors import StoreUnavailable, StoreUnusable
from app.verifier import verify
from tests.relays.fake import FakeRelay
from tests.service import NOWHERE, PUBKEY, Running, assert_problem, rows, running, settings

if TYPE_CHECKING:
    from collections.abc import Sequence
    from pathlib import Path

    from sqlalchemy import Connection


def limit_pages(connection: Connection, limits: Sequence[int]) -> list[None]:
    """Let the database file grow to so many pages."""
    connection.execute(text(f"PRAGMA max_page_count = {limits[0]}"))
    return [None]


async def fill_the_disk(service: Running) -> None:
    """Leave the database no room at all."""
    (pages,) = await service.service.store.read(lambda c: c.execute(text("PRAGMA page_count")).one())
    await service.service.store.write(limit_pages, pages)


async def test_scores_that_come_together_share_a_commit(url: str) -> None:
    async with running(url) as service:
        await service.post("warm", 1)  # the key is known from now on
        entered, gate = threading.Event(), threading.Event()

        def wait_at_gate(_connection: Connection, arguments: Sequence[None]) -> list[None]:
            entered.set()
            assert gate.wait(60)
            return [*arguments]

        store = service.service.store
        under_way = asyncio.create_task(store.write(wait_at_gate, None, bulky=True))
        await asyncio.to_thread(entered.wait, 60)
        commits: list[int] = []
        event.listen(store._database.writer, "commit", lambda _: commits.append(1))
        posts = [asyncio.create_task(service.post(f"player{number}", 72)) for number in range(60)]
        while len(store._writer._jobs) < 60:  # noqa: ASYNC110 - the requests on their way are the loop's only work
            await asyncio.sleep(0)
        gate.set()
        assert {answer.status_code for answer in await asyncio.gather(*posts)} == {201}
        await under_way
        assert service.count() == 61
        assert len(commits) == 2, "the one that was under way, and one for all that came meanwhile"


async def test_in_a_shared_commit_each_score_fails_alone(url: str) -> None:
    async with running(url) as service:
        answers = await asyncio.gather(
            service.post("alice", 72),
            service.post("bob", 121),
            service.post("a b", 1),
            service.post("carol", 3),
        )
        assert [answer.status_code for answer in answers] == [201, 422, 422, 201]
        assert rows(service.path, "SELECT username FROM event ORDER BY username") == [("alice",), ("carol",)]


async def test_a_full_disk_signs_nothing_and_is_left_behind(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        kept = (await service.post("before", 1)).json()["event"]["id"]
        await fill_the_disk(service)
        answers: list[Any] = []
        for batch in range(8):  # some may still fit into pages that are there
            posts = (service.post(f"player{batch}-{number}", 72) for number in range(40))
            answers += await asyncio.gather(*posts)
        failed = [answer for answer in answers if answer.status_code != 201]
        assert len(failed) > 100
        for answer in failed:
            document = assert_problem(answer, 503, "store-unavailable")
            assert "Nothing was signed" in document["detail"]
            assert answer.headers["retry-after"]
        good = {answer.json()["event"]["id"] for answer in answers if answer.status_code == 201}
        assert {event_id for (event_id,) in rows(service.path, "SELECT id FROM event")} == {kept, *good}
        orphans = "SELECT count(*) FROM event WHERE seq NOT IN (SELECT event_seq FROM delivery)"
        assert rows(service.path, orphans) == [(0,)]
        assert (await service.http.get(f"/v1/scores/{kept}")).status_code == 200
        await service.service.store.write(limit_pages, 1_000_000)
        assert (await service.post("after", 1)).status_code == 201


async def test_a_locked_database_signs_nothing_and_is_left_behind(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with running(tmp_path) as service:
        await service.post("before", 1)
        monkeypatch.setattr(sqlite, "_BUSY_SECONDS", 0)
        other = create_engine(f"sqlite:///{service.path}")
        with other.connect() as connection:
            connection.exec_driver_sql("BEGIN IMMEDIATE")
            answers = await asyncio.gather(*(service.post(f"player{number}", 72) for number in range(10)))
            for answer in answers:
                assert_problem(answer, 503, "store-unavailable")
            connection.rollback()
        other.dispose()
        assert (await service.post("after", 1)).status_code == 201
        assert rows(service.path, "SELECT username FROM event ORDER BY seq") == [("before",), ("after",)]


async def test_a_database_whose_file_is_deleted_signs_nothing(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    async with FakeRelay() as relay, running(tmp_path, relay.url) as service:
        await service.post("before", 1, Prefer="wait=10")
        service.path.unlink()
        assert_problem(await service.post("after", 1), 503, "store-unavailable")
        assert not service.path.exists()
        assert [event["tags"][0][1] for event in relay.events] == ["before"]
    assert "its file was deleted or replaced" in caplog.text


async def test_a_signed_score_is_answered_even_if_it_cannot_be_read_back(url: str) -> None:
    async with FakeRelay() as relay, running(url, relay.url) as service:
        await service.post("warm", 1, Prefer="wait=10")

        async def fail(_query: object) -> None:
            raise StoreUnavailable("the database does not answer")

        store = service.service.publisher._store
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(type(store), "read", lambda _self, query: fail(query))
            answer = await service.post("alice", 72, Prefer="wait=10")
        assert answer.status_code == 201
        assert answer.json()["event"]["id"] in relay.stored


async def test_deliveries_are_picked_up_after_a_restart(url: str) -> None:
    async with FakeRelay() as relay:
        async with FakeRelay() as elsewhere:
            pass
        async with running(url, elsewhere.url, relay.url) as service:
            posted = (await service.post("alice", 72)).json()["event"]
        assert rows(service.path, "SELECT count(*) FROM delivery WHERE holder IS NOT NULL") == [(0,)]
        async with running(url, relay.url):
            await relay.until(lambda: posted["id"] in relay.stored)
        assert relay.stored[posted["id"]] == posted


async def test_a_relay_that_is_new_gets_only_what_is_new(url: str) -> None:
    async with FakeRelay() as first, FakeRelay() as second:
        async with running(url, first.url) as service:
            await service.post("alice", 72, Prefer="wait=10")
        async with running(url, first.url, second.url) as service:
            await service.post("bob", 72, Prefer="wait=10")
        assert [e["tags"][0][1] for e in second.events] == ["bob"]


async def test_rotating_the_key_supersedes_what_the_old_one_had_pending(url: str) -> None:
    async with open_service(settings(url)) as service:
        old = await service.publisher.publish(Claim("alice", 50))
    rotated = settings(url, SECRET_KEY=f"{3:064x}", PUBLIC_KEYS=PUBKEY)
    async with open_service(rotated) as service:
        new = await service.publisher.publish(Claim("Alice", 51))
        assert (await service.publisher.find(old.event_id)).state == "superseded"  # type: ignore[union-attr]
    before, after = json.loads(old.payload), json.loads(new.payload)
    assert after["created_at"] > before["created_at"]
    assert before["pubkey"] != after["pubkey"]
    for one in (before, after):
        assert verify(one, rotated.verifying_keys).ok


async def test_a_database_that_cannot_be_written_is_unusable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(connection: Connection, _now: float) -> int:
        connection.execute(text("INSERT INTO nowhere VALUES (1)"))
        return 0

    monkeypatch.setattr("app.main.holders.register", full)
    with pytest.raises(StoreUnusable, match="cannot be written"):
        async with open_service(settings(tmp_path / "s.db")):
            pass


async def test_stopping_on_a_full_disk_is_no_fault(url: str, caplog: pytest.LogCaptureFixture) -> None:
    async with FakeRelay() as relay, running(url, NOWHERE, relay.url) as service:
        await service.post("alice", 72, Prefer="wait=1")

        async def fail(*_: object, **__: object) -> None:
            raise StoreUnavailable("the database does not take writes: disk full")

        service.service.store.write = fail  # type: ignore[method-assign]
    assert "takes over" in caplog.text


async def test_certificates_are_loaded_before_anybody_waits(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    tls_context.cache_clear()
    async with open_service(settings(tmp_path / "scores.db")):
        monkeypatch.setattr(ssl, "create_default_context", pytest.fail)
        assert tls_context().verify_mode is ssl.CERT_REQUIRED


async def test_leaving_for_a_reason_closes_everything(url: str) -> None:
    tasks = asyncio.all_tasks()
    with pytest.raises(ZeroDivisionError):
        async with open_service(settings(url)):
            raise ZeroDivisionError
    assert asyncio.all_tasks() == tasks
    assert rows(url, "SELECT count(*) FROM process") == [(0,)]
