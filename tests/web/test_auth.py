"""API keys over HTTP: whoever is not known gets a challenge, and nothing is signed."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from tests.service import assert_problem, make_key, revoke, running

if TYPE_CHECKING:
    from pathlib import Path

    from tests.service import Running

JSON = b"application/json"
BODY = json.dumps({"username": "alice", "score": 72}).encode()


async def post(service: Running, *authorization: bytes) -> str:
    """Post with these Authorization headers, check that it was refused with a challenge, return that."""
    headers = [(b"Content-Type", JSON), *((b"Authorization", value) for value in authorization)]
    request = service.http.build_request("POST", "/v1/scores", content=BODY, headers=headers)
    if not authorization:
        del request.headers["authorization"]
    answer = await service.http.send(request)
    assert_problem(answer, 401, "unauthenticated")
    assert service.count() == 0
    return answer.headers["www-authenticate"]


async def test_whoever_sends_no_key_is_challenged(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        assert await post(service) == 'Bearer realm="briscola-scores", Nostr realm="briscola-scores"'


async def test_malformed_and_unknown_keys_are_refused(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        token = service.token.encode()
        for malformed in (
            b"", b"Bearer", b"Bearer ", b"Bearer    ", token, b"Basic " + token, b"Token " + token,
            b"Bearer\t" + token, b"Bearer \xff\xfe", "Bearer kéy".encode(), b"\xe9 " + token,
            b"Bearer " + token + b"\xa0", b"Bearer " + token + b"\xc3\xa9",
        ):  # fmt: skip
            assert "error" not in await post(service, malformed), malformed
        prefix, key_id, secret = service.token.split("_", 2)
        for unknown in (
            "x", "_", "__", "bsk__", f"bsk_{key_id}_", f"bsk_{key_id}", f"bsk_{'0' * 16}_{secret}",
            f"xxx_{key_id}_{secret}", service.token[:-1], service.token + "A", service.token.swapcase(),
            f"{service.token},{service.token}", f"{service.token} x", f"bsk_' OR 1=1 --_{secret}", "a" * 8000,
            service.token + "\x00",
        ):  # fmt: skip
            challenge = await post(service, b"Bearer " + unknown.encode())
            assert challenge == 'Bearer realm="briscola-scores", error="invalid_token"', unknown
        assert prefix == "bsk"


@pytest.mark.parametrize("scheme", ["Bearer", "bearer", "BEARER"])
async def test_the_scheme_is_read_in_any_case(tmp_path: Path, scheme: str) -> None:
    async with running(tmp_path) as service:
        answer = await service.post("alice", 72, Authorization=f"{scheme}  {service.token}")
        assert answer.status_code == 201


async def test_a_revoked_key_is_refused(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        revoke(service.path, service.key_id)
        assert "invalid_token" in await post(service, b"Bearer " + service.token.encode())
        assert (await service.post("alice", 500)).status_code == 401, "it is told nothing about its body"


@pytest.mark.parametrize("policy", ["latest", "best"])
async def test_a_key_revoked_after_use_is_refused_at_once(tmp_path: Path, policy: str) -> None:
    async with running(tmp_path, SCORE_POLICY=policy) as service:
        assert (await service.post("alice", 72)).status_code == 201
        revoke(service.path, service.key_id)
        for score in (71, 73):
            answer = await service.post("alice", score)
            assert_problem(answer, 401, "unauthenticated")
            assert "invalid_token" in answer.headers["www-authenticate"]
        assert service.count() == 1


async def test_a_key_made_while_the_service_runs_is_good_at_once(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        _, token = make_key(service.path, "another")
        assert (await service.post("alice", 72, Authorization=f"Bearer {token}")).status_code == 201


async def test_a_key_of_another_database_is_unknown(tmp_path: Path) -> None:
    _, token = make_key(tmp_path / "other.db")
    async with running(tmp_path) as service:
        assert "invalid_token" in await post(service, f"Bearer {token}".encode())


async def test_reading_needs_no_key(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        event_id = (await service.post("alice", 72)).json()["event"]["id"]
        del service.http.headers["authorization"]
        for path in (f"/v1/scores/{event_id}", "/v1/players/alice", "/v1/protocol", "/healthz"):
            assert (await service.http.get(path)).status_code == 200, path
