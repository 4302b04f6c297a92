"""POST /v1/verify says of each event what the vectors say of it, and refuses what it cannot judge."""

from __future__ import annotations

import asyncio
import json
from collections import defaultdict
from typing import TYPE_CHECKING, Any

import pytest
import pytest_asyncio
from pydantic import TypeAdapter

from app.matches.match import Points
from app.web.answers import VerificationDocument
from app.web.verify import MAX_BYTES, MAX_EVENTS
from tests.matches.made import APP, Made, made
from tests.service import PUBKEY, Running, assert_problem, running
from tests.vectors import load, raw_of

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    import httpx

pytestmark = pytest.mark.asyncio(loop_scope="module")

JSON = {"Content-Type": "application/json"}
LINES = {"Content-Type": "application/x-ndjson"}
SEED_PUBKEY = "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"


@pytest_asyncio.fixture(loop_scope="module", scope="module")
async def service(tmp_path_factory: pytest.TempPathFactory) -> AsyncIterator[Running]:
    async with running(tmp_path_factory.mktemp("verify"), RATE_LIMIT="off") as open_one:
        del open_one.http.headers["authorization"]
        yield open_one


async def judge(service: Running, body: bytes, headers: dict[str, str]) -> list[dict[str, Any]]:
    answer = await service.http.post("/v1/verify", content=body, headers=headers)
    assert answer.status_code == 200, answer.text
    document = TypeAdapter(VerificationDocument).validate_python(answer.json())
    assert [verdict["index"] for verdict in document["verdicts"]] == list(range(len(document["verdicts"])))
    return [dict(verdict) for verdict in document["verdicts"]]


async def test_the_vectors_get_the_verdicts_that_they_name(tmp_path: Path) -> None:
    by_key: dict[str, list[dict[str, Any]]] = defaultdict(list)
    for case in load("score_events.json")["cases"]:
        raw = raw_of(case)
        if isinstance(raw, str) and "\n" not in raw and case["expected"] not in {"either", "unparsable"}:
            by_key[case["app_pubkey"]].append(case)
    for key, cases in by_key.items():
        async with running(tmp_path, PUBLIC_KEYS=key, RATE_LIMIT="off") as service:
            for start in range(0, len(cases), MAX_EVENTS):
                batch = cases[start : start + MAX_EVENTS]
                texts = [str(raw_of(case)) for case in batch]
                as_lines = await judge(service, "\n".join(texts).encode(), LINES)
                as_array = await judge(service, f"[{','.join(texts)}]".encode(), JSON)
                assert as_lines == as_array
                for case, verdict in zip(batch, as_lines, strict=True):
                    assert (verdict["failed"] or "ok") == case["expected"], case["name"]
                    assert verdict["consistent"] is bool(case["consistent"]), case["name"]


async def test_one_event_that_the_service_signed(service: Running) -> None:
    token = {"Authorization": f"Bearer {service.token}"}
    posted = (await service.post("alice", 72, **token)).json()["event"]
    (verdict,) = await judge(service, json.dumps(posted, indent=2).encode(), JSON)
    assert verdict == {
        "index": 0,
        "id": posted["id"],
        "ok": True,
        "failed": None,
        "consistent": True,
        "reasons": [],
        "username": "alice",
        "score": 72,
    }
    repeated = json.dumps(posted).replace("{", '{"kind": 1, ', 1)
    (verdict,) = await judge(service, repeated.encode(), JSON)
    assert verdict["failed"] == "signature"
    assert "'kind' occurs twice" in verdict["reasons"][0]


@pytest.mark.parametrize("other", [b"7", b"null", b'"x"', b"{", b"nonsense", b"\xff", b'{"a":1,}'])
async def test_what_is_no_event_among_others_has_a_verdict_that_says_so(
    service: Running, other: bytes
) -> None:
    one, two = await judge(service, b"{}\n" + other, LINES)
    assert (one["ok"], one["failed"]) == (False, "kind")
    assert (two["ok"], two["failed"], two["consistent"]) == (False, "unparsable", False)
    assert two["reasons"]
    answer = await service.http.post("/v1/verify", content=other, headers=JSON)
    assert "JSON object" in assert_problem(answer, 400, "malformed-body")["detail"]


@pytest.mark.parametrize(
    ("body", "what"),
    [
        (b"", "it is empty"),
        (b" \n\n", "it is empty"),
        (b"[]", "its array is empty"),
        (b"[{}", "breaks off"),
        (b"[{}] x", "something follows the end"),
        (b"[\xff]", "not UTF-8"),
    ],
)
async def test_a_body_without_events_is_refused(service: Running, body: bytes, what: str) -> None:
    answer = await service.http.post("/v1/verify", content=body, headers=JSON)
    assert what in assert_problem(answer, 400, "malformed-body")["detail"]


async def test_the_limits_are_exact(service: Running) -> None:
    most = b"[" + b",".join([b"{}"] * MAX_EVENTS) + b"]"
    assert len(await judge(service, most, JSON)) == 500
    answer = await service.http.post("/v1/verify", content=most[:-1] + b",{}]", headers=JSON)
    assert "500 events" in assert_problem(answer, 413, "body-too-large")["detail"]
    full = b"{}" + b" " * (1024 * 1024 - 2)
    assert len(await judge(service, full, JSON)) == 1
    answer = await service.http.post("/v1/verify", content=full + b" ", headers=JSON)
    assert str(MAX_BYTES) in assert_problem(answer, 413, "body-too-large")["detail"]


async def test_other_bodies_are_refused(service: Running) -> None:
    answer = await service.http.post("/v1/verify", content=b"{}", headers={"Content-Type": "text/plain"})
    assert_problem(answer, 415, "unsupported-media-type")


async def test_a_name_that_no_utf8_holds_comes_back_escaped(tmp_path: Path) -> None:
    """A lone surrogate in the content passes the five checks; orjson could not write it."""
    from app.nostr.event import sign_event
    from app.nostr.keys import SecretKey

    content = '{"v":1,"username":"\\ud800","score":1}'
    tags = [["app", "briscola-score"]]
    event = sign_event(SecretKey.parse(f"{2:064x}"), created_at=1, kind=31250, tags=tags, content=content)
    async with running(tmp_path) as service:
        (verdict,) = await judge(service, event.to_json().encode(), JSON)
    assert (verdict["ok"], verdict["username"]) == (True, "\ud800")


async def test_calls_are_limited_by_address(tmp_path: Path) -> None:
    async with running(tmp_path, RATE_LIMIT="2/minute") as service:
        del service.http.headers["authorization"]

        async def call() -> httpx.Response:
            return await service.http.post("/v1/verify", content=b"{}", headers=JSON)

        assert [(await call()).status_code for _ in range(2)] == [200, 200]
        refused = await call()
        assert_problem(refused, 429, "rate-limited")
        assert int(refused.headers["retry-after"]) > 0


async def test_the_loop_goes_on_meanwhile(service: Running, monkeypatch: pytest.MonkeyPatch) -> None:
    """While a verification waits in its thread, another call is answered."""
    import threading

    entered, gate = threading.Event(), threading.Event()

    def wait(_event: object, _keys: object) -> None:
        entered.set()
        assert gate.wait(60)
        raise RuntimeError

    monkeypatch.setattr("app.web.verify.verify_with", wait)
    verifying = asyncio.create_task(service.http.post("/v1/verify", content=b"{}", headers=JSON))
    await asyncio.to_thread(entered.wait, 60)
    assert (await service.http.get("/healthz")).status_code == 200
    assert not verifying.done()
    gate.set()
    assert (await verifying).status_code == 500


@pytest.mark.parametrize(("key", "warned"), [(SEED_PUBKEY, True), (PUBKEY, False)])
async def test_a_key_that_everybody_knows_is_warned_of(tmp_path: Path, key: str, warned: bool) -> None:
    async with running(tmp_path, PUBLIC_KEYS=key) as service:
        answer = await service.http.post("/v1/verify", content=b"{}", headers=JSON)
    assert [SEED_PUBKEY in warning for warning in answer.json()["warnings"]] == [True] * warned


@pytest.mark.parametrize("level", ["sharp", "master"])
async def test_a_transcript_is_replayed_and_masters_choices_for_those_who_sign_in(
    level: str, tmp_path: Path
) -> None:
    hand = made(level)
    async with running(tmp_path, PUBLIC_KEYS=APP.pubkey) as one:
        body, key = hand.event.to_json().encode(), one.http.headers.pop("authorization")

        async def verdict(**headers: str) -> dict[str, Any]:
            answer = await one.http.post("/v1/verify", content=body, headers=JSON | headers)
            assert answer.status_code == 200, answer.text
            document = TypeAdapter(VerificationDocument).validate_python(answer.json())
            assert document["verdicts"] == []
            return dict(document["transcript"])

        told = await verdict()
        assert (told["ok"], told["level"], told["score_event"]) == (True, level, event_id(hand))
        assert told["choices_checked"] is (level != "master")
        assert (await verdict(Authorization=key))["choices_checked"] is True
        refused = await one.http.post(
            "/v1/verify", content=body, headers=JSON | {"Authorization": "Bearer no"}
        )
        assert_problem(refused, 401, "unauthenticated")
        body = hand.changed(points=Points(0, 120)).to_json().encode()
        assert any(reason.startswith("the points are") for reason in (await verdict())["reasons"])


def event_id(hand: Made) -> str:
    assert hand.transcript.score_event is not None
    return hand.transcript.score_event.id
