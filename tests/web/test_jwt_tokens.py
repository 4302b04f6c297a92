"""Tokens of an identity provider, through the HTTP door and against a real JWKS address."""

from __future__ import annotations

import hmac
import json
import time
from hashlib import sha256
from typing import TYPE_CHECKING, Any

import pytest

from app.jwt_trust import InvalidJwt, JwtTrust
from app.web.jwks import KeySet
from app.web.jwt_tokens import JwtTokens
from tests.service import assert_problem, running
from tests.web.identity_provider import Key, Provider, b64, b64_json, identity_provider, rsa_key

if TYPE_CHECKING:
    from pathlib import Path

    import httpx

    from tests.service import Running

KEY = Key("main")
REFUSED = 'Bearer realm="briscola-scores", error="invalid_token"'


async def post(service: Running, token: str, username: str = "alice") -> httpx.Response:
    return await service.post(username, 72, Authorization=f"Bearer {token}")


def assert_refused(answer: httpx.Response, reason: str) -> None:
    document = assert_problem(answer, 401, "unauthenticated")
    assert answer.headers["www-authenticate"] == REFUSED
    assert document["detail"].startswith("The token is not accepted: ")
    assert reason in document["detail"]


async def test_a_token_and_an_api_key_through_one_door(tmp_path: Path) -> None:
    async with identity_provider(KEY) as provider, running(tmp_path, **provider.settings()) as service:
        assert (await post(service, KEY.token(provider.claims()))).status_code == 201
        assert (await post(service, service.token, "bob")).status_code == 201
        assert provider.asked == 1


async def test_without_a_provider_a_jwt_is_an_unknown_key(tmp_path: Path) -> None:
    async with identity_provider(KEY) as provider, running(tmp_path) as service:
        answer = await post(service, KEY.token(provider.claims()))
        assert "API key" in assert_problem(answer, 401, "unauthenticated")["detail"]
        assert provider.asked == 0


async def principal(token: str, provider: Provider) -> Any:
    trust = JwtTrust(provider.issuer, "briscola", provider.jwks_url, "preferred_username")
    async with KeySet(trust.jwks_url) as keys:
        return await JwtTokens(trust, keys).principal(token)


@pytest.mark.parametrize("algorithm", ["ES256", "RS256", "PS256", "EdDSA"])
async def test_every_family_of_signatures(algorithm: str) -> None:
    key = Key("k", algorithm)
    async with identity_provider(key) as provider:
        who = await principal(key.token(provider.claims(sub="42", aud=["other", "briscola"])), provider)
        assert who.id == f"jwt:{provider.issuer}|42"
        assert who.username == "alice"
        assert who.key_id is None
        assert not who.scopes
        assert who.names is None


async def test_a_key_without_an_algorithm_of_its_own_serves_those_of_its_type() -> None:
    async with identity_provider() as provider:
        provider.keys = [Key("k", "RS256").jwk(alg=None)]
        for algorithm in ("RS256", "PS256"):
            assert await principal(Key("k", algorithm).token(provider.claims()), provider)
        with pytest.raises(InvalidJwt, match="does not publish"):
            await principal(Key("k").token(provider.claims()), provider)


async def test_a_key_with_an_algorithm_serves_no_other() -> None:
    async with identity_provider(Key("k", "RS256")) as provider:
        with pytest.raises(InvalidJwt, match="does not publish"):
            await principal(Key("k", "PS256").token(provider.claims()), provider)


async def test_a_token_without_a_key_id_means_the_only_key() -> None:
    async with identity_provider(KEY) as provider:
        assert await principal(KEY.token(provider.claims(), kid=None), provider)
        provider.keys.append(Key("other").jwk())
        with pytest.raises(InvalidJwt, match="does not publish"):
            await principal(KEY.token(provider.claims(), kid=None), provider)


CLAIMS: dict[str, tuple[dict[str, Any], str]] = {
    "expired": ({"exp": int(time.time()) - 120}, "expired"),
    "no expiry": ({"exp": None}, 'missing the "exp" claim'),
    "expiry is a text": ({"exp": "soon"}, "must be an integer"),
    "expiry without end": ({"exp": float("inf")}, ""),
    "not yet": ({"nbf": int(time.time()) + 3600}, "not yet valid"),
    "from the future": ({"iat": int(time.time()) + 3600}, "not yet valid"),
    "another issuer": ({"iss": "https://evil.example"}, "issuer"),
    "no issuer": ({"iss": None}, 'missing the "iss" claim'),
    "a list of issuers": ({"iss": ["https://evil.example"]}, "ssuer"),
    "another audience": ({"aud": "another app"}, "udience"),
    "no audience": ({"aud": None}, 'missing the "aud" claim'),
    "no subject": ({"sub": None}, 'missing the "sub" claim'),
    "an empty subject": ({"sub": ""}, "subject"),
    "a subject without a UTF-8 form": ({"sub": "\ud800"}, "subject"),
    "a subject that is a number": ({"sub": 5}, "ubject must be a string"),
    "no username": ({"preferred_username": None}, "'preferred_username' holds no username"),
    "an empty username": ({"preferred_username": ""}, "'preferred_username' holds no username"),
    "a list of usernames": ({"preferred_username": ["alice"]}, "'preferred_username' holds no username"),
}


@pytest.mark.parametrize(("changes", "reason"), CLAIMS.values(), ids=CLAIMS.keys())
async def test_claims_are_checked(tmp_path: Path, changes: dict[str, Any], reason: str) -> None:
    async with identity_provider(KEY) as provider, running(tmp_path, **provider.settings()) as service:
        assert_refused(await post(service, KEY.token(provider.claims(**changes))), reason)
        assert service.count() == 0


@pytest.mark.parametrize(("claim", "seconds"), [("exp", -20), ("nbf", 20), ("iat", 20)])
async def test_clocks_may_differ_by_a_minute(claim: str, seconds: int) -> None:
    async with identity_provider(KEY) as provider:
        changes = {claim: int(time.time()) + seconds}
        assert await principal(KEY.token(provider.claims(**changes)), provider)


def forged(provider: Provider) -> dict[str, str]:
    """Tokens that nobody at the provider has signed."""
    good = KEY.token(provider.claims())
    head, claims, signature = good.split(".")
    public = json.dumps(KEY.jwk()).encode()
    shared = f"{b64_json({'alg': 'HS256', 'kid': 'main'})}.{claims}"
    deep = b64(b"[" * 5000)
    return {
        "no signature": f"{head}.{claims}.",
        "algorithm none": f"{b64_json({'alg': 'none', 'kid': 'main'})}.{claims}.",
        "algorithm none, signed": f"{b64_json({'alg': 'none', 'kid': 'main'})}.{claims}.{signature}",
        "the public key as a shared secret": f"{shared}.{b64(hmac.digest(public, shared.encode(), sha256))}",
        "other claims": f"{head}.{b64_json(provider.claims(preferred_username='bob'))}.{signature}",
        "another key under this id": Key("main").token(provider.claims()),
        "an unknown key": Key("unknown").token(provider.claims()),
        "a key in the header": Key("mine").token(provider.claims(), jwk=Key("mine").jwk()),
        "an algorithm of another type": Key("main", "EdDSA").token(provider.claims()),
        "a critical header": KEY.token(provider.claims(), crit=["\ud800"]),
        "key id is a number": KEY.token(provider.claims(), kid=5),
        "key id is a surrogate": KEY.token(provider.claims(), kid="\ud800"),
        "algorithm is a list": KEY.token(provider.claims(), alg=["ES256"]),
        "header is no object": f"{b64_json([])}.{claims}.{signature}",
        "header is deep": f"{deep}.{claims}.{signature}",
        "header is no JSON": f"{b64(b'{')}.{claims}.{signature}",
        "header is no base64": f"!!!.{claims}.{signature}",
        "signature is no base64": f"{head}.{claims}.!!!",
        "nothing": "..",
    }


async def test_forgeries_end_in_a_reason(tmp_path: Path) -> None:
    async with identity_provider(KEY) as provider, running(tmp_path, **provider.settings()) as service:
        for name, token in forged(provider).items():
            answer = await post(service, token)
            assert answer.status_code == 401, (name, answer.text)
            assert_refused(answer, "")
        assert service.count() == 0


async def test_a_weak_key_is_refused() -> None:
    weak = Key("weak", "RS256", rsa_key(1024))
    async with identity_provider(weak) as provider:
        with pytest.raises(InvalidJwt, match="2048"):
            await principal(weak.token(provider.claims()), provider)


async def test_rotated_keys(tmp_path: Path) -> None:
    new = Key("new")
    async with identity_provider(KEY) as provider, running(tmp_path, **provider.settings()) as service:
        assert (await post(service, KEY.token(provider.claims()))).status_code == 201
        provider.keys = [KEY.jwk(), new.jwk()]
        answer = await post(service, new.token(provider.claims()))
        assert_refused(answer, "does not publish")  # looked up a moment ago


async def test_a_provider_that_is_down_is_503(tmp_path: Path) -> None:
    async with identity_provider(KEY) as provider, running(tmp_path, **provider.settings()) as service:
        provider.status = 500
        answer = await post(service, KEY.token(provider.claims()))
        assert_problem(answer, 503, "identity-provider-unavailable")
        assert answer.headers["retry-after"] == "10"
        assert (await post(service, service.token, "bob")).status_code == 201  # API keys go on
