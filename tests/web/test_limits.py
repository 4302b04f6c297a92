"""How often somebody may call, over HTTP."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import pytest
from starlette.requests import Request

from app.config_values import rates
from app.principal import Principal
from app.web.counters import Counters
from app.web.limits import LimitedSignIn, Limits, Rates
from app.web.origin import Origins
from app.web.problems import Problem
from tests.service import assert_problem, make_key, running, settings

if TYPE_CHECKING:
    from pathlib import Path

    import httpx

WRONG = {"Authorization": "Bearer bsk_0000000000000000_wrong"}


def assert_limited(response: httpx.Response) -> None:
    document = assert_problem(response, 429, "rate-limited")
    wait = int(response.headers["retry-after"])
    assert 1 <= wait <= 60
    assert f"in {wait} s" in document["detail"]


async def test_a_key_posts_as_often_as_it_likes_unless_told(tmp_path: Path) -> None:
    async with running(tmp_path, RATE_LIMIT_PER_ADDRESS="2/minute") as client:
        answers = [await client.post(f"p{number}", 60) for number in range(70)]
        assert {answer.status_code for answer in answers} == {201}


async def test_a_rate_holds_for_each_key(tmp_path: Path) -> None:
    async with running(tmp_path, RATE_LIMIT="3/minute") as client:
        assert [(await client.post(f"p{number}", 60)).status_code for number in range(3)] == [201] * 3
        assert_limited(await client.post("p4", 60))
        assert client.count() == 3
        other = {"Authorization": f"Bearer {make_key(client.path)[1]}"}
        assert (await client.post("p5", 60, **other)).status_code == 201


async def test_keys_can_have_a_rate_of_their_own(tmp_path: Path) -> None:
    async with running(tmp_path, RATE_LIMIT="1/minute", RATE_LIMIT_PER_KEY="2/minute") as client:
        assert [(await client.post(f"p{number}", 60)).status_code for number in range(2)] == [201] * 2
        assert_limited(await client.post("p4", 60))
    (tmp_path / "off").mkdir()
    async with running(tmp_path / "off", RATE_LIMIT="1/minute", RATE_LIMIT_PER_KEY="off") as client:
        assert [(await client.post(f"p{number}", 60)).status_code for number in range(5)] == [201] * 5


async def test_wrong_sign_ins_count_on_their_address_and_keep_nobody_out(tmp_path: Path) -> None:
    async with running(tmp_path, RATE_LIMIT="3/minute", RATE_LIMIT_PER_KEY="off") as client:
        answers = [await client.post("alice", 60, **WRONG) for _ in range(3)]
        assert [answer.status_code for answer in answers] == [401] * 3
        assert_limited(await client.post("alice", 60, **WRONG))
        assert (await client.post("alice", 60)).status_code == 201


async def test_a_call_without_credentials_is_no_wrong_sign_in(tmp_path: Path) -> None:
    async with running(tmp_path, RATE_LIMIT="1/minute") as client:
        del client.http.headers["authorization"]
        assert [(await client.post("alice", 60)).status_code for _ in range(3)] == [401] * 3


async def test_calls_of_one_address_are_limited_whatever_they_ask(tmp_path: Path) -> None:
    async with running(tmp_path, RATE_LIMIT_PER_ADDRESS="3/minute") as client:
        del client.http.headers["authorization"]
        assert (await client.http.get("/v1/protocol")).status_code == 200
        assert (await client.http.get("/nothing")).status_code == 404
        # Credentials that nobody has seen to be good do not help.
        assert (await client.http.get("/v1/protocol", headers=WRONG)).status_code == 200
        assert_limited(await client.http.get("/v1/protocol", headers=WRONG))
        assert_limited(await client.http.get("/v1/protocol"))
        assert_limited(await client.post("alice", 60, **WRONG))
        assert (await client.http.get("/healthz")).status_code == 200
        assert (await client.http.get("/readyz")).status_code == 200


async def test_a_key_that_was_seen_is_not_held_up_by_its_neighbours(tmp_path: Path) -> None:
    async with running(tmp_path, RATE_LIMIT_PER_ADDRESS="2/minute") as client:
        known = {"Authorization": client.http.headers.pop("authorization")}
        assert (await client.post("alice", 60, **known)).status_code == 201
        assert (await client.http.get("/v1/protocol")).status_code == 200
        assert_limited(await client.http.get("/v1/protocol"))
        assert (await client.post("alice", 61, **known)).status_code == 201


async def test_addresses_behind_a_proxy_are_told_apart(tmp_path: Path) -> None:
    proxy = {"TRUSTED_PROXIES": "127.0.0.1", "RATE_LIMIT_PER_ADDRESS": "1/minute"}
    async with running(tmp_path, **proxy) as client:
        del client.http.headers["authorization"]
        one, other = {"X-Forwarded-For": "6.6.6.6, 192.0.2.1"}, {"X-Forwarded-For": "192.0.2.2"}
        assert (await client.http.get("/v1/protocol", headers=one)).status_code == 200
        assert_limited(await client.http.get("/v1/protocol", headers=one | {"X-Forwarded-For": "192.0.2.1"}))
        assert (await client.http.get("/v1/protocol", headers=other)).status_code == 200


async def test_without_a_trusted_proxy_no_header_changes_the_address(tmp_path: Path) -> None:
    async with running(tmp_path, RATE_LIMIT_PER_ADDRESS="1/minute") as client:
        del client.http.headers["authorization"]
        one, other = {"X-Forwarded-For": "192.0.2.1"}, {"X-Forwarded-For": "192.0.2.2"}
        assert (await client.http.get("/v1/protocol", headers=one)).status_code == 200
        assert_limited(await client.http.get("/v1/protocol", headers=other))


class Players:
    """Signs in whoever the header names."""

    async def principal(self, request: Request) -> Principal:
        return Principal(f"nostr:{request.headers['authorization']}")


def request(who: str, host: str = "192.0.2.1") -> Request:
    headers = [(b"authorization", who.encode())]
    scope: dict[str, Any] = {"type": "http", "client": (host, 1), "headers": headers}
    return Request(scope)


async def test_a_player_is_limited_on_every_address(tmp_path: Path) -> None:
    limits = Limits(Rates.of(settings(tmp_path / "x.db")), Counters(), Origins())
    sign_in = LimitedSignIn(Players(), limits)
    for number in range(60):
        await sign_in.principal(request("alice", f"192.0.2.{number}"))
    with pytest.raises(Problem) as refused:
        await sign_in.principal(request("alice"))
    assert refused.value.slug == "rate-limited"
    await sign_in.principal(request("bob"))


def test_the_rates_are_those_of_the_settings(tmp_path: Path) -> None:
    path = tmp_path / "x.db"
    assert Rates.of(settings(path)) == Rates(rates("60/minute"), (), rates("600/minute"))
    assert Rates.of(settings(path, RATE_LIMIT="off", RATE_LIMIT_PER_ADDRESS="off")) == Rates((), (), ())
    given = settings(path, RATE_LIMIT="5/second", RATE_LIMIT_PER_KEY="7/second;9/hour")
    assert Rates.of(given) == Rates(rates("5/second"), rates("7/second;9/hour"), rates("600/minute"))
