"""The Idempotency-Key header over HTTP."""

from __future__ import annotations

import asyncio
import time
from typing import TYPE_CHECKING

import pytest

from app.web.idempotency import parse_key
from tests.nostr.tokens import token
from tests.relays.fake import FakeRelay
from tests.service import PUBLIC_URL, PUBLISHED_BODY, assert_problem, make_key, running

if TYPE_CHECKING:
    from pathlib import Path

    import httpx

    from tests.service import Running


async def post(
    service: Running, key: str | bytes, body: bytes = PUBLISHED_BODY, **headers: str
) -> httpx.Response:
    everything = {"Content-Type": "application/json", **headers, "Idempotency-Key": key}
    return await service.http.post("/v1/scores", content=body, headers=everything)


async def test_the_same_call_again_has_the_same_answer(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        first = await post(service, "k")
        again = await post(service, "k")
    async with running(tmp_path) as service:  # its client has another key
        other = await post(service, "k")
        restarted = await post(service, "k", Authorization=first.request.headers["authorization"])
        assert service.count() == 2
    assert first.status_code == 201
    assert "idempotent-replayed" not in first.headers
    assert other.json()["event"]["id"] != first.json()["event"]["id"]
    for replay in (again, restarted):
        assert replay.status_code == 201
        assert replay.headers["idempotent-replayed"] == "true"
        assert replay.headers["location"] == first.headers["location"]
    assert again.json() == first.json()
    # By now a newer score has taken the place of the first.
    assert restarted.json()["event"] == first.json()["event"]
    assert restarted.json()["state"] == "superseded"


async def test_twenty_at_once_have_one_answer(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        answers = await asyncio.gather(*(post(service, "k") for _ in range(20)))
        assert {answer.status_code for answer in answers} == {201}
        assert all(answer.json() == answers[0].json() for answer in answers)
        assert sum("idempotent-replayed" not in answer.headers for answer in answers) == 1
        assert service.count() == 1


async def test_another_body_is_refused(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        await post(service, "k")
        for body in (b'{"username":"alice","score":73}', PUBLISHED_BODY + b" "):
            problem = assert_problem(await post(service, "k", body), 422, "idempotency-key-reused")
            assert "came before with another body" in problem["detail"]
        assert service.count() == 1
        assert (await post(service, "k")).status_code == 201


async def test_principals_do_not_share_keys(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        first = await post(service, "k")
        _, token = make_key(service.path)
        other = await post(service, "k", Authorization=f"Bearer {token}")
        assert other.json()["event"]["id"] != first.json()["event"]["id"]
        _, third = make_key(service.path)
        another = b'{"username":"bob","score":1}'
        assert (await post(service, "k", another, Authorization=f"Bearer {third}")).status_code == 201


async def test_no_improvement_is_repeated_as_such(tmp_path: Path) -> None:
    async with running(tmp_path, SCORE_POLICY="best") as service:
        standing = await service.post("alice", 100)
        for number in range(2):
            answer = await post(service, "k")
            assert answer.status_code == 200
            assert answer.json() == {**standing.json(), "state": "not-improved"}
            assert ("idempotent-replayed" in answer.headers) == (number == 1)


async def test_what_was_refused_is_tried_anew(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        problem = await post(service, "k", b'{"username":"alice","score":121}')
        assert_problem(problem, 422, "invalid-score")
        assert (await post(service, "k")).status_code == 201


async def test_a_repeated_call_may_wait_for_the_relays(tmp_path: Path) -> None:
    async with FakeRelay() as relay, running(tmp_path, relay.url) as service:
        waiting = await post(service, "k", Prefer="wait=30")
        again = await post(service, "k", Prefer="wait=30")
        assert waiting.json()["state"] == again.json()["state"] == "accepted"
        assert again.headers["preference-applied"] == "wait=30"


async def test_a_repeated_call_sees_an_answer_that_comes_while_it_waits(tmp_path: Path) -> None:
    async with FakeRelay() as relay, running(tmp_path, relay.url) as service:
        first, again = await asyncio.gather(
            post(service, "k", Prefer="wait=30"), post(service, "k", Prefer="wait=30")
        )
        assert first.json() == again.json()
        assert first.json()["state"] == "accepted"


LONGEST = "k" * 255
MALFORMED = [
    b"",
    b'""',
    b'"',
    b'"k',
    b'k"k' + b" k",
    b'"k"k',
    b'"k";a=1',
    b'"k", "l"',
    b"k k",
    b'"k k"',
    b"k\tk",
    b"k\xc3\xa9",
    b"\x7f",
    b'"\\k"',
    b'"k\\"',
    b"k" * 256,
    b'"' + b"k" * 256 + b'"',
]


@pytest.mark.parametrize("value", MALFORMED)
async def test_a_malformed_key_is_named(tmp_path: Path, value: bytes) -> None:
    async with running(tmp_path) as service:
        problem = assert_problem(await post(service, value), 400, "malformed-header")
        assert "Idempotency-Key" in problem["detail"]
        assert service.count() == 0


@pytest.mark.parametrize("blanks", [b" ", b"\t", b" \t "])
async def test_blanks_around_a_key_are_no_part_of_it(tmp_path: Path, blanks: bytes) -> None:
    async with running(tmp_path) as service:
        first, again = await post(service, b"k"), await post(service, blanks + b"k" + blanks)
        assert again.headers["idempotent-replayed"] == "true"
        assert again.json() == first.json()


async def test_two_keys_are_none(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        headers = [("Idempotency-Key", "k"), ("Idempotency-Key", "k")]
        body = {"username": "alice", "score": 72}
        answer = await service.http.post("/v1/scores", json=body, headers=headers)
        assert_problem(answer, 400, "malformed-header")


@pytest.mark.parametrize(
    ("value", "key"),
    [
        ("k", "k"),
        ('"k"', "k"),
        (LONGEST, LONGEST),
        (f'"{LONGEST}"', LONGEST),
        (r'"a\"b\\c"', 'a"b\\c'),
        ("8e03978e-40d5-43dd-bc93-6894a57f9324", "8e03978e-40d5-43dd-bc93-6894a57f9324"),
        ('"8e03978e-40d5-43dd-bc93-6894a57f9324"', "8e03978e-40d5-43dd-bc93-6894a57f9324"),
        ('k"', 'k"'),
        ("k;a=1,l", "k;a=1,l"),
        ("!~", "!~"),
    ],
)
def test_bare_and_quoted_keys(value: str, key: str) -> None:
    assert parse_key(value) == key


async def test_bare_and_quoted_are_the_same_key(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        first = await post(service, "k")
        assert (await post(service, '"k"')).json() == first.json()
        assert service.count() == 1


async def test_a_player_repeats_a_call_under_a_fresh_token(tmp_path: Path) -> None:
    """A signed token counts once, so whoever repeats a call signs anew; the Idempotency-Key stays."""
    async with running(tmp_path) as service:
        now = int(time.time())
        tokens = [token("POST", f"{PUBLIC_URL}/v1/scores", PUBLISHED_BODY, now - n) for n in (0, 1)]
        first, again = [await post(service, "k", Authorization=f"Nostr {each}") for each in tokens]
        assert (first.status_code, again.status_code) == (201, 201)
        assert again.headers["idempotent-replayed"] == "true"
        assert again.json() == first.json()
        replayed_token = await post(service, "k", Authorization=f"Nostr {tokens[0]}")
        assert_problem(replayed_token, 401, "unauthenticated")
        assert service.count() == 1
