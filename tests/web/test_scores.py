"""Scores over HTTP: what is answered, how long is waited, which score stands."""

from __future__ import annotations

import asyncio
import json
import time
from typing import TYPE_CHECKING

import pytest
from nostr_sdk import Event as SdkEvent

from app.verifier import verify
from tests.relays.fake import FakeRelay, never, nothing, ok
from tests.relays.real import rust_relay
from tests.service import NOWHERE, PUBKEY, PUBLIC_URL, assert_problem, rows, running

if TYPE_CHECKING:
    from collections.abc import Callable
    from pathlib import Path

    from tests.service import Running


class Clock:
    """A clock that stands still until it is set."""

    def __init__(self, now: float = 1_700_000_000.25) -> None:
        self.now = now

    def __call__(self) -> float:
        return self.now


# the answer


async def test_the_answer_is_the_signed_event_and_where_it_has_arrived(tmp_path: Path) -> None:
    async with running(tmp_path, clock=Clock()) as service:
        answer = await service.post("Alice", 72)
    assert answer.status_code == 201
    assert answer.headers["content-type"] == "application/json"
    assert "preference-applied" not in answer.headers
    document = answer.json()
    event = document.pop("event")
    assert document == {
        "address": f"31250:{PUBKEY}:alice",
        "state": "pending",
        "relays": [{"url": NOWHERE, "state": "pending", "message": "", "attempts": 0}],
        "proof": None,
    }
    assert list(event) == ["id", "pubkey", "created_at", "kind", "tags", "content", "sig"]
    assert event["kind"] == 31250
    assert event["pubkey"] == PUBKEY
    assert event["created_at"] == 1_700_000_000
    assert event["tags"] == [
        ["d", "alice"],
        ["app", "briscola-score"],
        ["username", "Alice"],
        ["score", "72"],
    ]
    assert event["content"] == '{"v":1,"username":"Alice","score":72}'
    assert SdkEvent.from_json(json.dumps(event)).verify()
    assert answer.headers["location"] == f"{PUBLIC_URL}/v1/scores/{event['id']}"


async def test_the_ends_of_the_range_are_good(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        for score in (0, 120):
            answer = await service.post("Zoë", score)
            assert answer.status_code == 201
            assert ["score", str(score)] in answer.json()["event"]["tags"]


async def test_the_location_shows_the_score_as_it_stands(tmp_path: Path) -> None:
    async with FakeRelay() as relay, running(tmp_path, relay.url) as service:
        posted = await service.post("alice", 72, Prefer="wait=10")
        shown = await service.http.get(posted.headers["location"])
        assert shown.status_code == 200
        assert shown.json() == posted.json()
        assert shown.json()["state"] == "accepted"


async def test_an_unknown_score_is_not_found(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        for event_id in ("0" * 64, "x", "%00", "%ff", "'", "a" * 5000):
            assert_problem(await service.http.get(f"/v1/scores/{event_id}"), 404, "not-found")


# a player's latest


async def test_a_player_is_found_by_any_spelling(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        await service.post("Alice", 72)
        latest = await service.post("ALICE", 41)
        await service.post("bob", 99)
        for spelling in ("alice", "Alice", "ALICE", "%61lice", "aLiCe"):
            answer = await service.http.get(f"/v1/players/{spelling}")
            assert answer.status_code == 200
            assert answer.json()["event"] == latest.json()["event"]


async def test_a_player_is_found_by_an_encoded_name(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        posted = await service.post("Zoë", 72)
        for spelling in ("Zo%C3%AB", "zo%C3%AB", "ZO%C3%8B", "zoë"):
            answer = await service.http.get(f"/v1/players/{spelling}")
            assert answer.json()["event"] == posted.json()["event"]


async def test_an_unknown_player_is_not_found(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        await service.post("alice", 72)
        for name in ("nobody", "%00", "%ff%fe", "a%2Fb", "%F0%9F%83%8F", "x" * 5000, "%"):
            assert_problem(await service.http.get(f"/v1/players/{name}"), 404, "not-found")


# waiting


async def test_waiting_ends_when_the_relays_have_answered(tmp_path: Path) -> None:
    async with (
        FakeRelay() as good,
        FakeRelay(on_event=ok(False, "error: try later")) as failing,
        FakeRelay(on_event=ok(False, "blocked: not you")) as refusing,
        running(tmp_path, good.url, failing.url, refusing.url) as service,
    ):
        async with asyncio.timeout(20):  # of the thirty seconds that are asked for
            answer = await service.post("alice", 72, Prefer="wait=30")
        assert answer.status_code == 201
        assert answer.headers["preference-applied"] == "wait=30"
        document = answer.json()
        assert document["state"] == "accepted"
        assert document["relays"] == [
            {"url": good.url, "state": "accepted", "message": "", "attempts": 1},
            {"url": failing.url, "state": "pending", "message": "error: try later", "attempts": 1},
            {"url": refusing.url, "state": "rejected", "message": "blocked: not you", "attempts": 1},
        ]


async def test_a_score_that_every_relay_refuses_is_rejected(tmp_path: Path) -> None:
    async with (
        FakeRelay(on_event=ok(False, "blocked: not you")) as one,
        FakeRelay(on_event=ok(False, "pow: 30 bits")) as other,
        running(tmp_path, one.url, other.url) as service,
    ):
        answer = await service.post("alice", 72, Prefer="wait=30")
        assert answer.status_code == 201
        assert answer.json()["state"] == "rejected"


@pytest.mark.parametrize(
    "make",
    [lambda: FakeRelay(on_event=nothing), lambda: FakeRelay(on_handshake=never)],
    ids=["OK", "upgrade"],
)
async def test_a_relay_that_never_answers_costs_no_more_than_was_asked_for(
    tmp_path: Path, make: Callable[[], FakeRelay]
) -> None:
    async with make() as silent, FakeRelay() as good, running(tmp_path, silent.url, good.url) as service:
        started = time.monotonic()
        answer = await service.post("alice", 72, Prefer="wait=1")
        assert time.monotonic() - started >= 1
        assert answer.headers["preference-applied"] == "wait=1"
        assert answer.json()["state"] == "accepted"
        assert [relay["state"] for relay in answer.json()["relays"]] == ["pending", "accepted"]


async def test_a_real_relay_has_the_event_once_waiting_is_over(tmp_path: Path) -> None:
    async with rust_relay() as relay, running(tmp_path, relay) as service:
        answer = await service.post("Zoë", 120, Prefer="wait=30")
        assert answer.json()["relays"] == [{"url": relay, "state": "accepted", "message": "", "attempts": 1}]


PREFERENCES: list[tuple[list[str], str | None]] = [
    (["wait=0"], "wait=0"),
    (["wait=31"], "wait=30"),
    (["wait=999999999"], "wait=30"),
    (["WAIT = 5"], "wait=5"),
    (['wait="5"'], "wait=5"),
    (["wait=5", "wait=7"], "wait=5"),
    (["wait=5, wait=7"], "wait=5"),
    (["return=minimal", "wait=7"], "wait=7"),
    (["respond-async, wait=7; foo"], "wait=7"),
    (["wait"], None),
    (["wait="], None),
    (["wait=x"], None),
    (["wait=-1"], None),
    (["wait=1.5"], None),
    (["wait=1e1"], None),
    (["wait=1000000000000000"], None),
    (["await=5"], None),
    (["wait=\xb2"], None),
    (['foo="wait=5"'], None),
    ([""], None),
]


async def test_preferences_are_read_as_rfc_7240_says(tmp_path: Path) -> None:
    async with FakeRelay() as relay, running(tmp_path, relay.url) as service:
        for number, (prefer, applied) in enumerate(PREFERENCES):
            headers = [(b"Prefer", value.encode("latin-1")) for value in prefer]
            body = {"username": f"player{number}", "score": 72}
            answer = await service.http.post("/v1/scores", json=body, headers=headers)
            assert answer.status_code == 201
            assert answer.headers.get("preference-applied") == applied, prefer


async def test_waiting_sees_what_another_process_delivers(tmp_path: Path) -> None:
    """The delivery is held by nobody when it is made, because no relay is connected yet."""
    async with FakeRelay() as relay, running(tmp_path, relay.url) as service:
        assert not service.service.engine.accepting()
        answer = await service.post("alice", 72, Prefer="wait=30")
        assert answer.json()["state"] == "accepted"


async def test_a_newer_score_ends_the_waiting_for_an_older_one(tmp_path: Path) -> None:
    async with FakeRelay(on_handshake=never) as silent, running(tmp_path, silent.url) as service:
        await service.post("bob", 1)  # from here on the API key is known, so that posts keep their order
        older, newer = await asyncio.gather(
            service.post("alice", 72, Prefer="wait=30"), service.post("alice", 73)
        )
        assert older.json()["state"] == "superseded"
        assert newer.json()["state"] == "pending"


# which score stands


async def test_the_latest_score_stands_not_the_best(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        for score in (100, 3):
            assert (await service.post("alice", score)).status_code == 201
        latest = await service.http.get("/v1/players/alice")
        assert ["score", "3"] in latest.json()["event"]["tags"]


async def test_the_policy_best_publishes_improvements_only(tmp_path: Path) -> None:
    async with FakeRelay() as relay, running(tmp_path, relay.url, SCORE_POLICY="best") as service:
        first = await service.post("alice", 72, Prefer="wait=10")
        for score in (72, 71, 0):
            answer = await service.post("ALICE", score)
            assert answer.status_code == 200
            assert answer.json() == {**first.json(), "state": "not-improved"}
            assert answer.headers["location"] == first.headers["location"]
        assert (await service.post("alice", 73)).status_code == 201
        assert (await service.post("bob", 1)).status_code == 201
        assert service.count() == 3
    async with running(tmp_path, SCORE_POLICY="best") as service:
        assert (await service.post("alice", 73)).json()["state"] == "not-improved"
        assert (await service.post("alice", 74)).status_code == 201
        assert service.count() == 4


# created_at


async def test_scores_of_one_name_rise_by_a_second_until_the_lead_is_used_up(tmp_path: Path) -> None:
    clock = Clock(1_700_000_000.25)
    async with running(tmp_path, clock=clock) as service:
        times = []
        for score in range(61):
            answer = await service.post("alice", score)
            assert answer.status_code == 201
            times.append(answer.json()["event"]["created_at"])
        assert times == list(range(1_700_000_000, 1_700_000_061))
        answer = await service.post("Alice", 72)
        assert_problem(answer, 429, "too-fast")
        assert answer.headers["retry-after"] == "1"
        assert service.count() == 61
        assert (await service.post("bob", 72)).status_code == 201, "another name is free"
        clock.now += float(answer.headers["retry-after"])
        assert (await service.post("alice", 72)).json()["event"]["created_at"] == 1_700_000_061


async def test_thirty_posts_at_once_for_one_name_all_rise(tmp_path: Path) -> None:
    async with running(tmp_path, clock=Clock()) as service:
        answers = await asyncio.gather(*(service.post("alice", score) for score in range(30)))
        times = [answer.json()["event"]["created_at"] for answer in answers]
        assert sorted(times) == list(range(1_700_000_000, 1_700_000_030))
        states = [row[0] for row in rows(service.path, "SELECT state FROM delivery ORDER BY event_seq")]
        assert states == ["superseded"] * 29 + ["pending"]


async def test_created_at_rises_on_after_a_restart(tmp_path: Path) -> None:
    clock = Clock()
    times: list[int] = []
    for _ in range(3):
        async with running(tmp_path, clock=clock) as service:
            times += [(await service.post("alice", 72)).json()["event"]["created_at"] for _ in range(3)]
    assert times == list(range(1_700_000_000, 1_700_000_009))


@pytest.mark.parametrize("restart", [False, True])
async def test_nothing_is_signed_while_the_clock_is_behind(tmp_path: Path, restart: bool) -> None:
    clock = Clock()
    async with running(tmp_path, clock=clock) as service:
        assert (await service.post("alice", 72)).status_code == 201
        clock.now -= 3600
        if not restart:
            await refused_for_the_clock(service)
    if restart:
        async with running(tmp_path, clock=clock) as service:
            await refused_for_the_clock(service)
    clock.now += 3600
    async with running(tmp_path, clock=clock) as service:
        assert (await service.post("alice", 72)).json()["event"]["created_at"] == 1_700_000_001
        assert (await service.http.get("/readyz")).status_code == 200


async def refused_for_the_clock(service: Running) -> None:
    for name in ("alice", "somebody-new"):
        answer = await service.post(name, 73)
        assert "3600 s behind" in assert_problem(answer, 503, "clock-behind")["detail"]
        assert answer.headers["retry-after"] == "3600"
    assert service.count() == 1
    ready = await service.http.get("/readyz")
    assert ready.status_code == 503
    assert "3600 s behind" in ready.json()["checks"]["clock"]
    assert ready.json()["checks"]["store"] == "ok"


async def test_a_clock_a_minute_behind_still_signs_in_order(tmp_path: Path) -> None:
    clock = Clock(1_700_000_000.0)
    async with running(tmp_path, clock=clock) as service:
        await service.post("alice", 72)
        clock.now -= 59
        assert (await service.post("alice", 72)).json()["event"]["created_at"] == 1_700_000_001


# rotation


async def test_after_a_rotation_old_scores_verify_and_new_ones_follow_them(tmp_path: Path) -> None:
    clock = Clock()
    async with running(tmp_path, clock=clock) as service:
        old = [(await service.post("alice", score)).json()["event"] for score in (50, 51)]
    new_secret = f"{3:064x}"
    # The x coordinate of three times the generator.
    new_pubkey = "f9308a019258c31049344f85f89d5229b531c845836f99b08601f113bce036f9"
    rotated = {"SECRET_KEY": new_secret, "PUBLIC_KEYS": PUBKEY}
    async with running(tmp_path, clock=clock, **rotated) as service:
        new = (await service.post("alice", 52)).json()
        assert new["event"]["pubkey"] == new_pubkey
        assert new["address"] == f"31250:{new_pubkey}:alice"
        assert [e["created_at"] for e in (*old, new["event"])] == list(range(1_700_000_000, 1_700_000_003))
        keys = (await service.http.get("/v1/protocol")).json()["public_keys"]
        assert set(keys) == {PUBKEY, new_pubkey}
        for event in (*old, new["event"]):
            assert verify(event, frozenset(keys)).ok
            assert verify(event, event["pubkey"]).ok
        assert not verify(new["event"], PUBKEY).ok
        shown = await service.http.get(f"/v1/scores/{old[1]['id']}")
        assert shown.json()["address"] == f"31250:{PUBKEY}:alice"
        latest = await service.http.get("/v1/players/alice")
        assert latest.json()["event"] == new["event"]
