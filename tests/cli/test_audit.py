"""`audit`: what relays hold against the store, and sending again what is missing."""

from __future__ import annotations

import asyncio
import json
import logging
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from click.testing import CliRunner
from nostr_sdk import Keys

from app.cli import main
from app.cli.repair import repair
from app.scores.score_event import SEED_PUBKEY
from tests.process import Ended, environment, run, serving
from tests.relays.events import signed_event
from tests.relays.fake import FakeRelay, Peer, nothing, ok, store
from tests.service import NOWHERE, PUBKEY, SECRET, make_key, rows, running, settings

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

OURS = Keys.parse(SECRET)


@pytest.fixture(autouse=True)
def _logging_as_it_was() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)


async def audit(env: dict[str, str], *arguments: str) -> Ended:
    """The command in a thread, because the relays of the tests live on this event loop."""
    result = await asyncio.to_thread(CliRunner().invoke, main, ["audit", *arguments], env=env)
    assert result.exception is None or isinstance(result.exception, SystemExit), result.output
    return Ended(result.exit_code, result.stdout, result.stderr)


def documents(ended: Ended) -> tuple[list[dict[str, Any]], dict[str, Any]]:
    """The findings and the summary of `--json`."""
    *findings, last = map(json.loads, ended.stdout.splitlines())
    return findings, last["summary"]


def hold(relay: FakeRelay, text: str, **changed: object) -> dict[str, Any]:
    event = json.loads(text) | changed
    relay.stored[f"{event['id']}{changed}"] = event
    return event


async def publish(folder: Path, relay: FakeRelay, *claims: tuple[str, int]) -> list[dict[str, Any]]:
    """Sign scores into the store of the folder, and have the relay accept them."""
    async with running(folder, relay.url) as service:
        await relay.until(lambda: relay.open_sockets > 0)
        answers = [(await service.post(*claim, Prefer="wait=10")).json() for claim in claims]
    assert {answer["state"] for answer in answers} == {"accepted"}
    return [answer["event"] for answer in answers]


async def test_every_finding_with_its_event(tmp_path: Path) -> None:
    async with FakeRelay() as relay:
        old, new, bob, _ = await publish(
            tmp_path, relay, ("alice", 1), ("alice", 2), ("bob", 3), ("carla", 4)
        )
        env = environment(tmp_path, RELAYS=relay.url)
        well = await audit(env, "--json")
        assert well.code == 0, well.stderr
        (information,), summary = documents(well)
        assert (information["finding"], information["held"]) == ("old-version", old)
        assert summary["ok"]
        assert summary["relays"][0] | {"relay": "", "found": {}} == {
            "relay": "", "events": 4, "found": {}, "complete": True, "incomplete": None, "error": None,
            "repair": None,
        }  # fmt: skip

        del relay.stored[new["id"]], relay.stored[bob["id"]]
        forged = hold(relay, signed_event(OURS, "carla", 120), sig="0" * 128)
        stolen = hold(relay, signed_event(OURS, "dora", 120))
        ended = await audit(env, "--json")
        assert ended.code == 1
        findings, summary = documents(ended)
        found = {document["finding"]: document for document in findings}
        assert len(found) == len(findings) == 4
        assert (found["stale"]["held"], found["stale"]["newest"]) == (old, new)
        assert (found["missing"]["held"], found["missing"]["newest"]) == (None, bob)
        assert found["missing"]["delivery"] == {"state": "accepted", "message": ""}
        assert found["forged"]["held"] == forged
        assert found["forged"]["reasons"]
        assert found["unknown"]["held"] == stolen
        assert {document["relay"] for document in findings} == {relay.url}
        assert summary["relays"][0]["found"] == {"stale": 1, "missing": 1, "forged": 1, "unknown": 1}
        assert not summary["ok"]

        table = await audit(env)
        assert table.code == 1
        for words in ("bob", "forged", "app's key,", "was accepted", "1 missing, 1 stale"):
            assert words in table.stdout, table.stdout


async def test_a_deletion_is_what_a_relay_should_hold(tmp_path: Path) -> None:
    async with FakeRelay() as relay:
        (alice,) = await publish(tmp_path, relay, ("alice", 72))
        _, token = make_key(tmp_path / "scores.db", scopes=("admin",))
        async with running(tmp_path, relay.url) as service:
            await relay.until(lambda: relay.open_sockets > 0)
            headers = {"Authorization": f"Bearer {token}", "Prefer": "wait=10"}
            deleted = await service.http.delete("/v1/players/alice/score", headers=headers)
            assert deleted.status_code == 200, deleted.text
        deletion = deleted.json()["event"]
        env = environment(tmp_path, RELAYS=relay.url)
        kept = await audit(env, "--json")
        assert kept.code == 0
        assert [(one["finding"], one["held"]) for one in documents(kept)[0]] == [("old-version", alice)]
        del relay.stored[deletion["id"]]
        undeleted = await audit(env, "--json")
        assert undeleted.code == 1
        (stale,) = documents(undeleted)[0]
        assert (stale["finding"], stale["held"], stale["newest"]) == ("stale", alice, deletion)


async def test_by_public_key_alone(tmp_path: Path) -> None:
    """Without settings and store, and nothing is written anywhere."""
    async with FakeRelay() as one, FakeRelay() as two:
        for relay in (one, two):
            hold(relay, signed_event(OURS, "alice", 72, 1000))
        unset = environment(tmp_path, SECRET_KEY="", RELAYS="", DATABASE_URL="")
        ended = await audit(unset, one.url, "--relay", two.url, "--pubkey", PUBKEY)
        assert ended.code == 0, ended.stderr
        assert ended.stdout.count("1 event, all is well") == 2
        newer = hold(one, signed_event(OURS, "alice", 73, 1001))
        odd = hold(two, signed_event(OURS, "bob", 1, 1000, content='{"v":2}'))
        ended = await audit(unset, one.url, two.url, "--pubkey", PUBKEY, "--json")
        assert ended.code == 1
        findings, _ = documents(ended)
        found = [(finding["relay"], finding["finding"]) for finding in findings]
        assert found == [(one.url, "old-version"), (two.url, "invalid"), (two.url, "stale")]
        assert findings[1]["held"] == odd
        assert findings[2]["newest"] == {"id": newer["id"]}
    assert not (tmp_path / "scores.db").exists()


async def test_a_new_relay_is_filled_when_no_service_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.cli.repair._PATIENCE", 0.1)
    async with FakeRelay() as old, FakeRelay() as new:
        events = await publish(tmp_path, old, ("alice", 1), ("bob", 2), ("alice", 3))
        ended = await audit(environment(tmp_path, RELAYS=old.url), old.url, new.url, "--repair")
        assert ended.code == 0, ended.stdout + ended.stderr
        assert "2 missing; sent again: 2 arrived" in ended.stdout.replace("\n", "")
        assert {event["id"] for event in new.events} == {event["id"] for event in events[1:]}
        again = await audit(environment(tmp_path, RELAYS=old.url), new.url)
        assert again.code == 0, again.stdout


async def test_a_running_service_does_the_sending(tmp_path: Path) -> None:
    senders: list[Peer] = []

    def note_and_store(peer: Peer, event: dict[str, Any]) -> None:
        senders.append(peer)
        store(peer, event)

    _, token = make_key(tmp_path / "scores.db")
    async with FakeRelay(on_event=note_and_store) as relay:
        env = environment(tmp_path, RELAYS=relay.url)
        headers = {"Authorization": f"Bearer {token}", "Prefer": "wait=10"}
        async with serving(env) as service, httpx.AsyncClient(base_url=service.url, headers=headers) as http:
            posted = await http.post("/v1/scores", json={"username": "alice", "score": 72})
            alice = posted.json()["event"]
            assert relay.stored == {alice["id"]: alice}
            relay.stored.clear()
            ended = await run(env, "audit", "--repair", "--json")
            assert ended.code == 0, ended.stdout + ended.stderr
    assert relay.stored == {alice["id"]: alice}
    assert senders == senders[:1] * 2, "the audit sends over no connection of its own"
    assert documents(ended)[1]["relays"][0]["repair"] == {"arrived": 1, "failed": []}
    assert documents(ended)[1]["ok"]


async def test_what_a_relay_will_not_have_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.cli.repair._PATIENCE", 0.1)
    async with FakeRelay() as relay, FakeRelay(on_event=ok(False, "blocked: no")) as other:
        await publish(tmp_path, relay, ("alice", 1))
        told: list[tuple[str, int]] = []
        results = await repair(
            settings(tmp_path / "scores.db", [relay.url]),
            {other.url: [1]},
            wait=60,
            arrived=lambda url, count: told.append((url, count)),
        )
    assert (results[other.url].arrived, dict(results[other.url].failed)) == (
        0,
        {("rejected", "blocked: no"): 1},
    )
    assert told == [(other.url, 1)]


async def test_a_relay_that_never_answers_is_waited_for_no_longer_than_told(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.cli.repair._PATIENCE", 0.1)
    async with FakeRelay() as relay, FakeRelay(on_event=nothing) as other:
        await publish(tmp_path, relay, ("alice", 1))
        results = await repair(
            settings(tmp_path / "scores.db", [relay.url]), {other.url: [1]}, wait=0.5, arrived=lambda *_: None
        )
        assert [state for state, _ in results[other.url].failed] == ["pending"]
    state = "SELECT state, holder FROM delivery JOIN relay ON relay.id = relay_id WHERE url = ?"
    assert rows(tmp_path / "scores.db", state, other.url) == [("pending", None)], "it stays in the outbox"


async def test_a_relay_that_cannot_be_read(tmp_path: Path) -> None:
    async with FakeRelay() as relay:
        await publish(tmp_path, relay, ("alice", 1))
        env = environment(tmp_path, RELAYS=f"{relay.url},{NOWHERE}")
        ended = await audit(env, "--json")
        assert ended.code == 2
        findings, summary = documents(ended)
        assert findings == []
        assert summary["relays"][1]["error"]
        relay.stored.clear()
        ended = await audit(env)
        assert ended.code == 1, "what is known to be bad goes before what is not known"
        assert "cannot be read" in ended.stdout


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["--pubkey", PUBKEY], "name the relays to audit"),
        ([NOWHERE, "--pubkey", PUBKEY, "--repair"], "leave out --pubkey"),
        ([NOWHERE, "--pubkey", "abc"], "--pubkey: the public key is neither"),
        (["wss://user:hidden@relay.example"], "carries a user name or password"),
        (["ftp://relay.example"], "use wss:// or ws://"),
        (["--wait", "0"], "--wait"),
    ],
)
def test_what_cannot_be_audited(tmp_path: Path, arguments: list[str], said: str) -> None:
    refused = CliRunner().invoke(main, ["audit", *arguments], env=environment(tmp_path))
    assert refused.exit_code == 2
    assert said in refused.stderr
    assert "hidden" not in refused.output
    assert "Traceback" not in refused.output
    assert not (tmp_path / "scores.db").exists()


async def test_the_key_that_everybody_knows(tmp_path: Path) -> None:
    async with FakeRelay() as relay:
        ended = await audit(environment(tmp_path), relay.url, "--pubkey", SEED_PUBKEY)
    assert ended.code == 0
    assert "proves nothing" in ended.stderr


def test_without_a_key(tmp_path: Path) -> None:
    refused = CliRunner().invoke(main, ["audit"], env=environment(tmp_path, SECRET_KEY=""))
    assert refused.exit_code == 2
    assert "BRISCOLA_SECRET_KEY: is not set" in refused.stderr


def test_a_database_that_cannot_be_opened(tmp_path: Path) -> None:
    env = environment(tmp_path, DATABASE_URL=f"sqlite:///{tmp_path}")
    refused = CliRunner().invoke(main, ["audit"], env=env)
    assert refused.exit_code == 2
    assert "unable to open" in refused.stderr
