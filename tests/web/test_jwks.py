"""A provider's keys: fetched once, kept, looked up again for an unknown one, and gone when it drops them."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING, Any

import pytest

from app.jwt_trust import KeysUnavailable
from app.web.jwks import KeySet
from tests.web.identity_provider import Key, Provider, identity_provider

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

ONE, TWO = Key("one"), Key("two")


class Clock:
    now = 1000.0

    def __call__(self) -> float:
        return self.now


@asynccontextmanager
async def key_set(*keys: Key) -> AsyncIterator[tuple[KeySet, Provider, Clock]]:
    clock = Clock()
    async with identity_provider(*keys) as provider, KeySet(provider.jwks_url, clock) as keys_of:
        yield keys_of, provider, clock


async def test_known_keys_never_wait_for_the_network() -> None:
    async with key_set(ONE, TWO) as (keys, provider, _):
        for _ in range(3):
            assert await keys.key("one", "ES256")
            assert await keys.key("two", "ES256")
        assert provider.asked == 1


async def test_an_unknown_key_is_looked_up_but_not_too_often() -> None:
    async with key_set(ONE) as (keys, provider, clock):
        assert await keys.key("two", "ES256") is None
        provider.keys = [TWO.jwk()]
        clock.now += 9.9
        assert await keys.key("two", "ES256") is None
        assert provider.asked == 1
        clock.now += 0.1
        assert await keys.key("two", "ES256")
        assert await keys.key("one", "ES256") is None  # rotated out
        assert provider.asked == 2


async def test_lookups_at_once_are_one_request() -> None:
    async with key_set(ONE) as (keys, provider, _):
        found = await asyncio.gather(*(keys.key("one", "ES256") for _ in range(20)))
        assert all(found)
        assert provider.asked == 1


async def test_old_keys_are_renewed_in_the_background() -> None:
    async with key_set(ONE, TWO) as (keys, provider, clock):
        assert await keys.key("one", "ES256")
        clock.now += 300
        provider.answering.clear()
        provider.keys = [TWO.jwk()]
        assert await keys.key("one", "ES256")  # answered while the provider still thinks
        provider.answering.set()
        assert await keys.key("three", "ES256") is None  # waits for the answer that is under way
        assert await keys.key("one", "ES256") is None
        assert provider.asked == 2


BROKEN: list[dict[str, Any]] = [
    {"status": 500},
    {"status": 404},
    {"status": 302},
    {"body": b"not json"},
    {"body": b"[]"},
    {"body": b'{"keys": {}}'},
    {"body": b'{"keys": ["' + b"x" * 300_000 + b'"]}'},
]


@pytest.mark.parametrize("fault", BROKEN, ids=str)
async def test_without_the_provider_nothing_can_be_told(
    fault: dict[str, Any], caplog: pytest.LogCaptureFixture
) -> None:
    async with key_set(ONE) as (keys, provider, clock):
        provider.__dict__.update(fault)
        for _ in range(2):
            with pytest.raises(KeysUnavailable) as caught:
                await keys.key("one", "ES256")
            assert caught.value.retry_after == 10
        assert provider.asked == 1
        assert f"the keys at {provider.jwks_url} cannot be had" in caplog.text
        provider.status, provider.body = 200, None
        clock.now += 10
        assert await keys.key("one", "ES256")


async def test_a_provider_that_is_down_leaves_the_known_keys_good() -> None:
    async with key_set(ONE) as (keys, provider, clock):
        assert await keys.key("one", "ES256")
        provider.status = 503
        clock.now += 10
        with pytest.raises(KeysUnavailable):
            await keys.key("two", "ES256")
        assert await keys.key("one", "ES256")


async def test_nobody_listens() -> None:
    async with KeySet("http://127.0.0.1:1/jwks.json") as keys:
        with pytest.raises(KeysUnavailable):
            await keys.key("one", "ES256")


async def test_closing_ends_a_fetch_under_way() -> None:
    async with key_set(ONE) as (keys, provider, _):
        provider.answering.clear()
        lookup = asyncio.create_task(keys.key("one", "ES256"))
        await provider.waiting.wait()
        await keys.__aexit__(None, None, None)
        provider.answering.set()
        with pytest.raises(asyncio.CancelledError):
            await lookup


async def test_only_signing_keys_of_the_right_algorithm_are_taken() -> None:
    async with key_set(ONE) as (keys, provider, _):
        provider.keys = [
            {"kty": "oct", "k": "c2VjcmV0", "kid": "shared", "alg": "HS256"},
            ONE.jwk(kid="encrypts", use="enc"),
            ONE.jwk(kid="curve", crv="P-384"),
            ONE.jwk(kid="plain", alg=None, use=None),
            ONE.jwk(kid="lists", alg=[], use=None),
            {"kty": ["EC"], "kid": "odd"},
            {"kty": "RSA", "kid": "empty"},
            {"kty": "RSA", "kid": "numbers", "n": 5, "e": 5},
            {"kty": "EC", "kid": "numbers", "crv": "P-256", "x": 5, "y": 5},
            {"kty": "OKP", "kid": "numbers", "crv": "Ed25519", "x": 5},
            "text",
            *(ONE.jwk(kid="pair"), TWO.jwk(kid="pair", kty="RSA")),
        ]  # type: ignore[list-item]
        assert await keys.key("plain", "ES256")
        assert await keys.key("pair", "ES256")
        for name in ("shared", "encrypts", "curve", "lists", "odd", "empty", "numbers"):
            for algorithm in ("ES256", "RS256", "EdDSA"):
                assert await keys.key(name, algorithm) is None, name
        assert await keys.key("plain", "RS256") is None


async def test_without_an_id_the_only_key_is_meant() -> None:
    async with key_set(ONE) as (keys, provider, clock):
        assert await keys.key(None, "ES256")
        provider.keys = [ONE.jwk(), TWO.jwk()]
        clock.now += 300
        await keys.key("two", "ES256")
        assert await keys.key(None, "ES256") is None
