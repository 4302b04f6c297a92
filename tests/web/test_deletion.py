"""DELETE /v1/players/{username}/score: who may, what is answered, what relays make of it."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from typing import TYPE_CHECKING

import pytest

from app.principal import ADMIN
from tests.relays.events import stored
from tests.relays.fake import FakeRelay, never, ok
from tests.service import NOWHERE, PUBKEY, PUBLIC_URL, assert_problem, make_key, rows, running

if TYPE_CHECKING:
    from pathlib import Path

    import httpx

    from tests.service import Running

SCORES = {"kinds": [31250], "authors": [PUBKEY]}
DELETIONS = {"kinds": [5], "authors": [PUBKEY]}


async def delete(service: Running, name: str, **headers: str) -> httpx.Response:
    return await service.http.delete(f"/v1/players/{name}/score", headers=headers)


def admin(service: Running, *names: str) -> dict[str, str]:
    _, token = make_key(service.path, scopes=(ADMIN,), names=names or None)
    return {"Authorization": f"Bearer {token}"}


async def test_a_deletion_is_accepted_for_delivery(tmp_path: Path) -> None:
    async with running(tmp_path, clock=lambda: 1_700_000_000.0) as service:
        score = (await service.post("Zoë", 72)).json()
        answer = await delete(service, "ZO%C3%8B")
        assert answer.status_code == 202
        document = answer.json()
        event = document.pop("event")
        assert document == {
            "address": f"31250:{PUBKEY}:zoë",
            "state": "pending",
            "relays": [{"url": NOWHERE, "state": "pending", "message": "", "attempts": 0}],
            "proof": None,
        }
        assert event["kind"] == 5
        assert event["created_at"] == 1_700_000_001
        assert event["tags"] == [["a", f"31250:{PUBKEY}:zoë"], ["k", "31250"]]
        assert answer.headers["location"] == f"{PUBLIC_URL}/v1/scores/{event['id']}"
        assert (await service.http.get(answer.headers["location"])).json() == answer.json()
        shown = (await service.http.get(f"/v1/scores/{score['event']['id']}")).json()
        assert shown["state"] == "deleted"
        assert shown["deleted_at"] == 1_700_000_001
        assert shown["relays"][0]["state"] == "superseded"


async def test_a_deleted_player_is_gone_until_the_next_score(tmp_path: Path) -> None:
    async with running(tmp_path, clock=lambda: 1_700_000_000.0) as service:
        await service.post("Alice", 72)
        await delete(service, "alice")
        problem = assert_problem(await service.http.get("/v1/players/Alice"), 404, "score-deleted")
        assert problem["deleted_at"] == 1_700_000_001
        problem = assert_problem(await delete(service, "Alice"), 404, "score-deleted")
        assert problem["deleted_at"] == 1_700_000_001
        later = await service.post("alice", 3)
        assert later.status_code == 201
        assert later.json()["event"]["created_at"] == 1_700_000_002
        latest = await service.http.get("/v1/players/alice")
        assert latest.status_code == 200
        assert latest.json() == later.json() | {"matches": {"dealt": 0, "finished": 0, "forfeited": 0}}


async def test_what_never_was_is_not_deleted(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        await service.post("alice", 72)
        for name in ("nobody", "%00", "alice%00", "%ff", "x" * 5000, "'"):
            assert_problem(await delete(service, name), 404, "not-found")
        assert service.count() == 1


async def test_who_may_delete(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        await service.post("alice", 72)
        _, stranger = make_key(service.path)
        problem = assert_problem(
            await delete(service, "alice", Authorization=f"Bearer {stranger}"), 403, "forbidden"
        )
        assert "only its owner" in problem["detail"]
        assert_problem(await delete(service, "alice", Authorization="Bearer x"), 401, "unauthenticated")
        assert_problem(await delete(service, "alice", **admin(service, "bob")), 403, "forbidden")
        assert service.count() == 1
        assert (await delete(service, "alice", **admin(service, "alice"))).status_code == 202


async def test_an_admin_deletes_any_score_and_the_name_keeps_its_owner(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        await service.post("alice", 72)
        assert (await delete(service, "alice", **admin(service))).status_code == 202
        assert rows(service.path, "SELECT d, owner FROM name") == [("alice", f"key:{service.key_id}")]


async def test_only_delete_is_allowed_there(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        answer = await service.http.get("/v1/players/alice/score")
        assert_problem(answer, 405, "method-not-allowed")
        assert answer.headers["allow"] == "DELETE"


async def test_the_answer_is_200_once_every_relay_has_it(tmp_path: Path) -> None:
    async with FakeRelay() as one, FakeRelay() as other, running(tmp_path, one.url, other.url) as service:
        await service.post("alice", 72, Prefer="wait=30")
        answer = await delete(service, "alice", Prefer="wait=30")
        assert answer.status_code == 200
        assert answer.headers["preference-applied"] == "wait=30"
        assert answer.json()["state"] == "accepted"
        assert [relay["state"] for relay in answer.json()["relays"]] == ["accepted"] * 2


async def test_the_answer_is_202_where_a_relay_refuses(tmp_path: Path) -> None:
    async with (
        FakeRelay() as good,
        FakeRelay(on_event=ok(False, "blocked: no deletions here")) as refusing,
        running(tmp_path, good.url, refusing.url) as service,
    ):
        await service.post("alice", 72)
        answer = await delete(service, "alice", Prefer="wait=30")
        assert answer.status_code == 202
        assert [relay["state"] for relay in answer.json()["relays"]] == ["accepted", "rejected"]


# relays


@pytest.mark.parametrize("name", ["alice", "Zoë"])
async def test_a_relay_that_honours_deletions(tmp_path: Path, rust_relay: str, name: str) -> None:
    async with running(tmp_path, rust_relay) as service:
        for score in (71, 72):
            await service.post(name, score, Prefer="wait=30")
        gone = await delete(service, name, Prefer="wait=30")
        assert gone.status_code == 200
        assert await stored(rust_relay, SCORES) == []
        assert await stored(rust_relay, DELETIONS) == [gone.json()["event"]]
        later = await service.post(name, 3, Prefer="wait=30")
        assert later.json()["state"] == "accepted"
        assert await stored(rust_relay, SCORES) == [later.json()["event"]]


async def test_a_relay_that_keeps_what_is_deleted_has_the_deletion_beside_it(
    tmp_path: Path, python_relay: str
) -> None:
    """nostr-relay deletes by event id alone, so a reader has to ask for deletions too."""
    async with running(tmp_path, python_relay) as service:
        score = await service.post("alice", 72, Prefer="wait=30")
        gone = await delete(service, "alice", Prefer="wait=30")
        assert gone.status_code == 200
        assert await stored(python_relay, SCORES) == [score.json()["event"]]
        assert await stored(python_relay, DELETIONS) == [gone.json()["event"]]
        later = await service.post("alice", 3, Prefer="wait=30")
        assert await stored(python_relay, SCORES) == [later.json()["event"]]


async def test_a_score_that_was_deleted_before_it_was_sent_never_is(tmp_path: Path, rust_relay: str) -> None:
    """The relay would answer `error:` to it for ever."""
    async with FakeRelay(on_handshake=never) as silent, running(tmp_path, silent.url) as service:
        score = await service.post("alice", 72)
        gone = await delete(service, "alice")
        same = {"Authorization": f"Bearer {service.token}", "Idempotency-Key": "k"}
        later = await service.post("alice", 73, **same)
        # The relay comes up at last, under the address that the deliveries have.
        with closing(sqlite3.connect(service.path)) as connection, connection:
            connection.execute("UPDATE relay SET url = ?", [rust_relay])
    async with running(tmp_path, rust_relay) as service:
        waited = await service.post("alice", 73, **same, Prefer="wait=30")
        assert waited.json()["event"] == later.json()["event"]
        stands = {}
        for answer in (score, gone, later):
            event_id = answer.json()["event"]["id"]
            shown = (await service.http.get(f"/v1/scores/{event_id}")).json()
            stands[event_id] = (shown["state"], shown["relays"][0]["attempts"])
        assert list(stands.values()) == [("deleted", 0), ("accepted", 1), ("accepted", 1)]
