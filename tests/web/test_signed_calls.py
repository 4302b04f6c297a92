"""Signed calls through the HTTP door: what passes, what is refused, and that none counts twice."""

from __future__ import annotations

import asyncio
import base64
import json
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from starlette.applications import Starlette
from starlette.responses import PlainTextResponse
from starlette.routing import Route

from app.store.database import Database
from app.store.seen_tokens import SeenTokens
from app.store.store import Store
from app.web.signed_calls import SignedCalls
from tests.clock import Clock
from tests.nostr.tokens import ALICE, BOB, call_tags, encoded, pubkey_of, sha256, signed, token
from tests.service import PUBLIC_URL, assert_problem, running

if TYPE_CHECKING:
    from pathlib import Path

    from starlette.requests import Request
    from starlette.responses import Response

    from tests.service import Running

NOW = 1_700_000_000
URL = f"{PUBLIC_URL}/v1/scores"
BODY = b'{"username": "alice", "score": 72}'
CHALLENGE = 'Nostr realm="briscola-scores"'


async def post(
    http: httpx.AsyncClient, authorization: str, body: bytes = BODY, path: str = "/v1/scores", **headers: str
) -> httpx.Response:
    given = {"Authorization": authorization, "Content-Type": "application/json", **headers}
    return await http.post(path, content=body, headers=given)


def honest(body: bytes = BODY, *, url: str = URL, at: int = NOW, secret: bytes = ALICE) -> str:
    return f"Nostr {token('POST', url, body, at, secret=secret)}"


def assert_refused(answer: httpx.Response, reason: str) -> None:
    document = assert_problem(answer, 401, "unauthenticated")
    assert answer.headers["www-authenticate"] == CHALLENGE
    assert reason in document["detail"]


async def test_a_signed_call_publishes(tmp_path: Path) -> None:
    async with running(tmp_path, clock=Clock(NOW)) as service:
        answer = await post(service.http, honest())
        assert answer.status_code == 201
        assert json.loads(answer.json()["event"]["content"]) == {"v": 1, "username": "alice", "score": 72}


@pytest.mark.parametrize("scheme", ["nostr", "NOSTR", "Nostr "])
async def test_the_scheme_is_read_in_any_case(tmp_path: Path, scheme: str) -> None:
    async with running(tmp_path, clock=Clock(NOW)) as service:
        assert (await post(service.http, honest().replace("Nostr", scheme))).status_code == 201


@pytest.mark.parametrize("seconds", [-60, 60])
async def test_the_bounds_of_the_clock_are_inside(tmp_path: Path, seconds: int) -> None:
    async with running(tmp_path, clock=Clock(NOW)) as service:
        assert (await post(service.http, honest(at=NOW + seconds))).status_code == 201
        assert_refused(await post(service.http, honest(at=NOW + seconds // 60 * 61)), "61 s")


def event(tags: list[list[str]] | None = None, **changes: Any) -> str:
    made = signed(
        call_tags("POST", URL, BODY) if tags is None else tags, NOW, kind=changes.pop("kind", 27235)
    )
    return f"Nostr {encoded(made | changes)}"


U, METHOD, PAYLOAD = call_tags("POST", URL, BODY)
OTHERS = signed(call_tags("POST", URL, BODY), NOW, secret=BOB)
REFUSED = {
    "no base64": ("Nostr ???", "not standard base64"),
    "base64url": (honest() + "-_", "base64url"),
    "no event": ("Nostr bnVsbA==", "no Nostr event"),
    "deep": ("Nostr " + "W1tb" * 1024, "no Nostr event"),
    "flipped signature": (event(sig="0" * 128), "signature"),
    "A's key, B's signature": (event(sig=OTHERS["sig"]), "signature"),
    "A's pubkey in B's event": (f"Nostr {encoded(OTHERS | {'pubkey': pubkey_of(ALICE)})}", "the id is not"),
    "changed created_at": (event(created_at=NOW + 1), "the id is not"),
    "another kind": (event(kind=1), "kind is 1"),
    "two u": (event([U, U, METHOD, PAYLOAD]), "the tag u occurs 2 times"),
    "another path": (event([["u", URL + "x"], METHOD, PAYLOAD]), f"sign exactly {URL}"),
    "another method": (event([U, ["method", "GET"], PAYLOAD]), "the tag method"),
    "no payload": (event([U, METHOD]), "the tag payload is missing"),
    "an upper-case hash": (event([U, METHOD, ["payload", sha256(BODY).upper()]]), "lower-case hex"),
    "the hash of the same JSON": (
        event([U, METHOD, ["payload", sha256(BODY.replace(b" ", b""))]]),
        "the SHA-256 of the body",
    ),
}


@pytest.mark.parametrize(("authorization", "reason"), REFUSED.values(), ids=REFUSED.keys())
async def test_refused_with_a_reason(tmp_path: Path, authorization: str, reason: str) -> None:
    async with running(tmp_path, clock=Clock(NOW)) as service:
        assert_refused(await post(service.http, authorization), reason)
        assert service.count() == 0


async def test_a_token_without_its_scheme_word_is_malformed(tmp_path: Path) -> None:
    async with running(tmp_path, clock=Clock(NOW)) as service:
        for header in ("Nostr", "Nostr ", honest().replace(" ", "\t"), "Nostr é".encode().decode("latin-1")):
            answer = await service.http.post(
                "/v1/scores", content=BODY, headers=[(b"Authorization", header.encode("latin-1"))]
            )
            assert "malformed" in assert_problem(answer, 401, "unauthenticated")["detail"], header


async def test_no_header_of_the_call_says_what_the_address_is(tmp_path: Path) -> None:
    forwarded = {"Host": "evil.example", "X-Forwarded-Host": "evil.example", "X-Forwarded-Proto": "http"}
    async with running(tmp_path, clock=Clock(NOW)) as service:
        for url in ("https://evil.example/v1/scores", "http://evil.example/v1/scores"):
            assert_refused(await post(service.http, honest(url=url), **forwarded), f"sign exactly {URL}")
        assert (await post(service.http, honest(), **forwarded)).status_code == 201


async def test_the_public_url_may_have_a_path_and_the_call_a_query(tmp_path: Path) -> None:
    async with running(tmp_path, clock=Clock(NOW)) as service:
        transport = httpx.ASGITransport(service.service.app("https://example.org/scores"))
        async with httpx.AsyncClient(transport=transport, base_url="http://10.0.0.1:8000") as http:
            url = "https://example.org/scores/v1/scores"
            assert (await post(http, honest(url=url))).status_code == 201
            query = "?a=b%20c&d=%C3%A9"
            assert (await post(http, honest(url=url + query), path="/v1/scores" + query)).status_code == 201
            answer = await post(http, honest(url=url), path="/v1/scores" + query)
            assert answer.status_code == 401


async def test_a_signed_body_that_is_too_large_is_not_hashed(tmp_path: Path) -> None:
    async with running(tmp_path, clock=Clock(NOW)) as service:
        body = b" " * 4096 + BODY
        assert_problem(await post(service.http, honest(body), body), 413, "body-too-large")


async def test_one_use(tmp_path: Path) -> None:
    async with running(tmp_path, clock=Clock(NOW)) as service:
        authorization = honest()
        assert (await post(service.http, authorization)).status_code == 201
        assert_refused(await post(service.http, authorization), "was used before")
        respelled = f"Nostr {encoded({'x': 1, **signed_event(authorization)})}"
        assert_refused(await post(service.http, respelled), "was used before")
        assert service.count() == 1


def signed_event(authorization: str) -> dict[str, Any]:
    made: dict[str, Any] = json.loads(base64.b64decode(authorization.removeprefix("Nostr ")))
    return made


async def test_many_uses_at_once_are_one(tmp_path: Path) -> None:
    async with running(tmp_path, clock=Clock(NOW)) as service:
        authorization = honest()
        answers = await asyncio.gather(*(post(service.http, authorization) for _ in range(30)))
        assert sorted(answer.status_code for answer in answers) == [201] + [401] * 29
        assert service.count() == 1


async def test_honest_calls_in_one_second_all_pass(tmp_path: Path) -> None:
    """Other bodies have other ids; equal calls share an id, and still have signatures of their own."""
    bodies = [BODY, BODY, b'{"username": "alice", "score": 73}']
    made = [honest(body) for body in bodies]
    assert signed_event(made[0])["id"] == signed_event(made[1])["id"]
    async with running(tmp_path, clock=Clock(NOW)) as service:
        answers = [await post(service.http, *call) for call in zip(made, bodies, strict=True)]
        assert [answer.status_code for answer in answers] == [201, 201, 201]


async def test_used_stays_used_across_restarts_replicas_and_the_window(tmp_path: Path) -> None:
    clock = Clock(NOW)
    authorization = honest(at=NOW + 60)
    async with running(tmp_path, clock=clock) as one, running(tmp_path, clock=clock) as other:
        assert (await post(one.http, authorization)).status_code == 201
        assert_refused(await post(other.http, authorization), "was used before")
    clock.now += 120
    async with running(tmp_path, clock=clock) as again:
        assert_refused(await post(again.http, authorization), "was used before")
        await post(again.http, honest(at=NOW + 120))  # a later call prunes what is old enough
        assert tokens_kept(again) == 2


def tokens_kept(service: Running) -> int:
    return service.count("seen_token")


async def test_a_refused_call_uses_nothing_up(tmp_path: Path) -> None:
    async with running(tmp_path, clock=Clock(NOW)) as service:
        authorization = honest()
        assert_refused(await post(service.http, authorization, BODY + b" "), "payload")
        assert tokens_kept(service) == 0
        assert (await post(service.http, authorization)).status_code == 201
        assert tokens_kept(service) == 1


async def test_path_bytes_count_as_they_came(tmp_path: Path) -> None:
    """Percent-encoded names, in either spelling; a call that only reads may come twice with one token."""
    store = Store(Database(f"sqlite:///{tmp_path / 'scores.db'}"))
    calls = SignedCalls(store, SeenTokens(Clock(NOW)), PUBLIC_URL, Clock(NOW))

    async def whose(request: Request) -> Response:
        _, _, made = request.headers["authorization"].partition(" ")
        return PlainTextResponse((await calls.principal(request, made)).id)

    app = Starlette(routes=[Route("/v1/players/{username}/score", whose, methods=["GET", "DELETE"])])
    async with httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url="http://inside") as http:
        for path in ("/v1/players/jos%C3%A9/score", "/v1/players/jos%c3%a9/score", "/v1/players/a%20b/score"):
            for method in ("DELETE", "GET", "GET"):
                made = f"Nostr {token(method, PUBLIC_URL + path, b'', NOW)}"
                answer = await http.request(method, path, headers={"Authorization": made})
                assert answer.text == f"nostr:{pubkey_of(ALICE)}", path
        reading = {"Authorization": f"Nostr {token('GET', PUBLIC_URL + path, b'', NOW)}"}
        assert [(await http.get(path, headers=reading)).status_code for _ in range(2)] == [200, 200]
    await store.close()
