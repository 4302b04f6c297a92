"""The client against a real served service, behind a proxy too, and against servers that misbehave."""

from __future__ import annotations

import asyncio
import base64
import json
import traceback
from contextlib import asynccontextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import pytest

from app import client as client_module
from app.client import Client, Refused, UnexpectedAnswer, Unreachable
from app.nostr.event import verify_event
from app.nostr.keys import SecretKey
from tests.nostr.tokens import ALICE, BOB, pubkey_of, sha256
from tests.relays.fake import FakeRelay
from tests.served import served, served_under
from tests.service import PUBKEY, rows, running

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

OWNERS = "SELECT d, owner FROM name ORDER BY d"


PAUSE = client_module._pause


def test_pauses_grow_and_heed_the_service() -> None:
    for attempt, longest in ((1, 0.5), (2, 1.0)):
        pauses = [PAUSE(attempt, Unreachable()) for _ in range(200)]
        assert all(longest / 2 <= pause <= longest for pause in pauses)
        assert len(set(pauses)) > 1
    document = {"type": "x", "detail": "y"}
    assert PAUSE(1, Refused(503, document, 3)) == 3
    assert PAUSE(1, Refused(503, document, 3600)) == 5


@pytest.fixture(autouse=True)
def without_pauses(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(client_module, "_pause", lambda *_: 0)


async def test_publish_read_and_delete_as_a_player(tmp_path: Path) -> None:
    async with FakeRelay() as relay, running(tmp_path, relay.url) as service, served(service.service) as url:
        async with Client(url, player_key=ALICE.hex()) as client:
            score = await client.publish("Alice", 72, wait=10)
            assert score.state == "accepted"
            assert [(d.url, d.state, d.message, d.attempts) for d in score.relays] == [
                (relay.url, "accepted", "", 1)
            ]
            assert score.address == f"31250:{PUBKEY}:alice"
            assert score.event.pubkey == PUBKEY
            assert score.event.content == '{"v":1,"username":"Alice","score":72}'
            assert verify_event(score.event)
            assert json.loads(score.text)["event"] == score.event.to_dict()
            assert (await client.score(score.event.id)).event == score.event
            assert (await client.player("ALICE")).event == score.event
            deleted = await client.delete("alice", wait=10)
            assert deleted.event.kind == 5
            with pytest.raises(Refused) as caught:
                await client.player("alice")
            assert caught.value.status == 404
        assert rows(service.path, OWNERS) == [("alice", f"nostr:{pubkey_of(ALICE)}")]


async def test_names_outside_ascii_under_a_path(tmp_path: Path) -> None:
    """What is signed is the public address, percent-encoded, not what the proxy makes of it."""
    async with running(tmp_path) as service, served_under(service.service, "/briscola/scores") as url:
        async with Client(f"{url}/", player_key=SecretKey(ALICE)) as client:
            score = await client.publish("José", 72)
            assert (await client.player("josé")).event == score.event
            assert (await client.delete("José")).event.kind == 5
            with pytest.raises(Refused, match="deleted"):
                await client.player("José")
        async with Client(url, player_key=SecretKey(BOB)) as other:
            with pytest.raises(Refused) as caught:
                await other.publish("JOSÉ", 100)
            assert (caught.value.status, caught.value.slug) == (403, "name-taken")


async def test_as_a_game_server_with_an_api_key(tmp_path: Path) -> None:
    async with (
        running(tmp_path) as service,
        served(service.service) as url,
        Client(url, api_key=service.token) as client,
    ):
        first = await client.publish("alice", 72, idempotency_key="match-1")
        again = await client.publish("alice", 72, idempotency_key="match-1")
        other = await client.publish("alice", 72)
        assert first.event == again.event != other.event
        with pytest.raises(Refused) as caught:
            await client.publish("alice", 121)
        assert caught.value.status == 422
        assert caught.value.slug == "invalid-score"
        assert [error["field"] for error in caught.value.errors] == ["score"]
        assert "score" in str(caught.value)


async def test_without_a_key_only_reading(tmp_path: Path) -> None:
    async with running(tmp_path) as service, served(service.service) as url, Client(url) as client:
        with pytest.raises(Refused) as caught:
            await client.publish("alice", 72)
        assert caught.value.status == 401
        with pytest.raises(Refused) as caught:
            await client.score("0" * 64)
        assert (caught.value.status, caught.value.slug) == (404, "not-found")


@dataclass
class Scripted:
    """A server that answers with what it is told, in turn; None hangs up."""

    answers: list[bytes | None]
    targets: list[str] = field(default_factory=list)
    heads: list[dict[str, str]] = field(default_factory=list)
    bodies: list[bytes] = field(default_factory=list)
    url: str = ""

    async def _answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        head = (await reader.readuntil(b"\r\n\r\n")).decode()
        self.targets.append(head.split(" ")[1])
        lines = [line.partition(": ") for line in head.split("\r\n")[1:-2]]
        self.heads.append({name.lower(): value for name, _, value in lines})
        self.bodies.append(await reader.readexactly(int(self.heads[-1].get("content-length", "0"))))
        if answer := self.answers.pop(0):
            writer.write(answer)
            await writer.drain()
        writer.close()


@asynccontextmanager
async def scripted(*answers: bytes | None) -> AsyncIterator[Scripted]:
    server = Scripted(list(answers))
    listening = await asyncio.start_server(server._answer, "127.0.0.1", 0)
    server.url = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
    async with listening:
        yield server


def answer(status: int, document: Any, *headers: str) -> bytes:
    body = document if isinstance(document, bytes) else json.dumps(document).encode()
    head = [f"HTTP/1.1 {status} X", f"Content-Length: {len(body)}", "Connection: close", *headers]
    return "\r\n".join([*head, "", ""]).encode() + body


def problem(status: int, slug: str, *headers: str) -> bytes:
    document = {"type": f"https://x.example/problems/{slug}", "status": status, "title": "T", "detail": "D."}
    return answer(status, document, "Content-Type: application/problem+json", *headers)


EVENT = {
    "id": "0" * 64,
    "pubkey": "0" * 64,
    "created_at": 1,
    "kind": 31250,
    "tags": [],
    "content": "",
    "sig": "0" * 128,
}
GOOD = answer(201, {"event": EVENT, "address": "a", "state": "pending", "relays": [], "more": 1})
BUSY = problem(503, "store-unavailable", "Retry-After: 5")


async def test_publishing_is_tried_again_with_one_key_and_new_signatures() -> None:
    async with scripted(None, BUSY, GOOD) as server, Client(server.url, player_key=ALICE.hex()) as client:
        assert (await client.publish("alice", 72)).state == "pending"
    assert len({head["idempotency-key"] for head in server.heads}) == 1
    assert len(set(server.bodies)) == 1
    tokens = [base64.b64decode(head["authorization"].removeprefix("Nostr ")) for head in server.heads]
    events = [json.loads(token) for token in tokens]
    assert len({event["sig"] for event in events}) == 3
    assert len({event["id"] for event in events}) == 3
    for event in events:
        tags = dict(event["tags"])
        assert event["kind"] == 27235
        assert event["pubkey"] == pubkey_of(ALICE)
        assert tags["u"] == f"{server.url}/v1/scores"
        assert tags["method"] == "POST"
        assert tags["payload"] == sha256(server.bodies[0])
        assert len(tags["nonce"]) >= 32


@pytest.mark.parametrize("last", [None, BUSY, answer(502, b"<html>")], ids=["hang-up", "503", "502"])
async def test_three_attempts_are_all(last: bytes | None) -> None:
    async with scripted(BUSY, None, last, GOOD) as server, Client(server.url, api_key="k") as client:
        with pytest.raises((Unreachable, Refused, UnexpectedAnswer)):
            await client.publish("alice", 72)
        assert len(server.heads) == 3


@pytest.mark.parametrize("first", [None, BUSY], ids=["hang-up", "503"])
async def test_a_deletion_is_not_repeated(first: bytes | None) -> None:
    """The second would be told that there is nothing to delete."""
    async with scripted(first, GOOD) as server, Client(server.url, api_key="k") as client:
        with pytest.raises((Unreachable, Refused)):
            await client.delete("alice")
        assert len(server.heads) == 1


@pytest.mark.parametrize("status", [400, 401, 403, 404, 409, 422, 429, 500])
async def test_a_refusal_is_final(status: int) -> None:
    refusal = problem(status, "the-slug", "Retry-After: 7")
    async with scripted(refusal, GOOD) as server, Client(server.url, api_key="k") as client:
        with pytest.raises(Refused) as caught:
            await client.publish("alice", 72)
        assert len(server.heads) == 1
    refused = caught.value
    assert (refused.status, refused.slug, refused.detail) == (status, "the-slug", "D.")
    assert refused.retry_after == 7
    assert refused.errors == []
    assert str(refused) == "D."


ODD = {
    "no JSON": answer(200, b"hello"),
    "a list": answer(200, []),
    "no event": answer(200, {"address": "a", "state": "s", "relays": []}),
    "no relays": answer(200, {"event": EVENT, "address": "a", "state": "s"}),
    "a broken event": answer(200, {"event": {**EVENT, "id": ""}, "address": "a", "state": "s", "relays": []}),
    "an event that is text": answer(200, {"event": 5, "address": "a", "state": "s", "relays": []}),
    "a page of a proxy": answer(404, b"<html>not here</html>"),
    "a JSON error of another service": answer(400, {"error": "what?"}),
    "a JSON list as error": answer(400, ["what?"]),
    "broken compression": answer(200, b"hello", "Content-Encoding: gzip"),
    "an elsewhere": answer(301, b"", "Location: https://elsewhere.example/v1/scores"),
}


@pytest.mark.parametrize("odd", ODD.values(), ids=ODD.keys())
async def test_what_is_no_answer_of_the_service(odd: bytes) -> None:
    async with scripted(odd) as server, Client(server.url, api_key="k") as client:
        with pytest.raises(UnexpectedAnswer) as caught:
            await client.score("0" * 64)
    assert ("use that address" in str(caught.value)) is (b"Location" in odd)


async def test_an_endless_number_of_seconds_is_none() -> None:
    refusal = problem(429, "rate-limited", f"Retry-After: {'9' * 5000}")
    async with scripted(refusal) as server, Client(server.url, api_key="k") as client:
        with pytest.raises(Refused) as caught:
            await client.publish("alice", 72)
    assert caught.value.retry_after is None


@pytest.mark.parametrize("key", ["", "a b", "a\nb", "é", "k" * 256])
async def test_an_idempotency_key_that_is_none(key: str) -> None:
    async with Client("http://127.0.0.1:1", api_key="k") as client:
        with pytest.raises(ValueError, match="1 to 255 visible"):
            await client.publish("alice", 72, idempotency_key=key)


async def test_what_no_json_should_hold_is_refused_by_the_service(tmp_path: Path) -> None:
    async with (
        running(tmp_path) as service,
        served(service.service) as url,
        Client(url, player_key=ALICE.hex()) as client,
    ):
        for username, score, status in (("\ud800", 72, 400), ("alice", 10**30, 422)):
            with pytest.raises(Refused) as caught:
                await client.publish(username, score)
            assert caught.value.status == status
        with pytest.raises(Refused) as caught:
            await client.player("\ud800")
        assert caught.value.status == 404
    assert rows(service.path, OWNERS) == []


async def test_nobody_listens() -> None:
    async with Client("http://127.0.0.1:1", api_key="k") as client:
        with pytest.raises(Unreachable, match=r"no answer from http://127\.0\.0\.1:1"):
            await client.delete("alice")


async def test_the_wait_goes_as_a_preference() -> None:
    async with scripted(GOOD, GOOD) as server, Client(server.url, api_key="k") as client:
        await client.publish("alice", 72)
        await client.publish("alice", 72, wait=1000)
    assert "prefer" not in server.heads[0]
    assert server.heads[1]["prefer"] == "wait=30"


async def test_a_name_stays_one_part_of_the_path() -> None:
    async with scripted(GOOD) as server, Client(server.url) as client:
        await client.player("../a b/c?d#e%41")
    assert server.targets == ["/v1/players/..%2Fa%20b%2Fc%3Fd%23e%2541"]


@pytest.mark.parametrize(
    "url",
    [
        "",
        "scores.example",
        "ftp://x",
        "http://",
        "https://x?a=b",
        "https://x#y",
        "https://a:b@x",
        "https://x:65536",
    ],
)
def test_an_address_that_is_none(url: str) -> None:
    with pytest.raises(ValueError, match="the address of the service"):
        Client(url)


def test_keys_that_are_none() -> None:
    for keys in (
        {"api_key": "k", "player_key": ALICE.hex()},
        {"api_key": ""},
        {"api_key": "a\nb"},
        {"api_key": "é"},
        {"player_key": "x"},
        {"player_key": ""},
    ):
        with pytest.raises(ValueError, match="key"):
            Client("https://x.example", **keys)


async def test_a_failure_shows_no_key() -> None:
    secret = SecretKey.generate()
    for keys in ({"api_key": "bsk_secret_secret"}, {"player_key": secret.to_hex()}):
        client = Client("http://127.0.0.1:1", **keys)
        (key,) = keys.values()
        async with client:
            with pytest.raises(Unreachable) as caught:
                await client.publish("alice", 72)
        error = caught.value
        assert error.__traceback__ is not None
        inside = error.__traceback__.tb_next  # this test's own frame holds the key
        shown = traceback.TracebackException(type(error), error, inside, capture_locals=True)
        text = "".join(shown.format()) + repr(client) + repr(vars(client))
        assert "idempotency_key" in text
        assert key not in text
        assert secret.to_nsec() not in text
