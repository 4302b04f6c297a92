"""`publish`: one score from the command line to the relays."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner
from nostr_sdk import Event as SdkEvent

from app.cli import main
from tests.process import environment, run, serving
from tests.relays.fake import FakeRelay, ok
from tests.service import NOWHERE, PUBKEY, make_key, rows

if TYPE_CHECKING:
    from pathlib import Path


async def test_a_score_that_a_relay_accepts(tmp_path: Path) -> None:
    async with FakeRelay() as relay, FakeRelay(on_event=ok(False, "blocked: no")) as other:
        env = environment(tmp_path, RELAYS=f"{relay.url},{other.url}")
        ended = await run(env, "publish", "Alice", "72", "--json")
        assert ended.code == 0, ended.stderr
        document = json.loads(ended.stdout)
        assert document["state"] == "accepted"
        assert document["address"] == f"31250:{PUBKEY}:alice"
        assert [relay["state"] for relay in document["relays"]] == ["accepted", "rejected"]
        assert SdkEvent.from_json(json.dumps(document["event"])).verify()
        assert relay.stored[document["event"]["id"]] == document["event"]


async def test_for_people(tmp_path: Path) -> None:
    async with FakeRelay() as relay:
        env = environment(tmp_path, RELAYS=relay.url, SCORE_POLICY="best")
        ended = await run(env, "publish", "alice", "72")
        assert ended.code == 0
        assert json.loads(ended.stdout) == relay.events[0]
        assert f"accepted   {relay.url}" in ended.stderr
        again = await run(env, "publish", "ALICE", "71")
        assert again.code == 0
        assert json.loads(again.stdout) == relay.events[0]
        assert "No improvement" in again.stderr
        assert len(relay.events) == 1


async def test_no_relay_accepts(tmp_path: Path) -> None:
    async with FakeRelay(on_event=ok(False, "blocked: no")) as relay:
        ended = await run(environment(tmp_path, RELAYS=relay.url), "publish", "alice", "72")
    assert ended.code == 1
    assert f"rejected   {relay.url}: blocked: no" in ended.stderr


async def test_no_relay_answers(tmp_path: Path) -> None:
    ended = await run(environment(tmp_path, RELAYS=NOWHERE), "publish", "alice", "72", "--wait", "1")
    assert ended.code == 1
    assert f"pending    {NOWHERE}" in ended.stderr
    assert "Traceback" not in ended.stderr
    assert rows(tmp_path / "scores.db", "SELECT state, holder FROM delivery") == [("pending", None)]


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (["alice", "121"], "the score is out of range"),
        (["alice", "72.5"], "not a valid integer"),
        (["alice", "x"], "not a valid integer"),
        (["alice", "--", "-1"], "the score is out of range"),
        (["alice", "-1"], "the score is out of range"),
        (["alice", "1", "--wiat", "5"], "unexpected extra arguments (--wiat 5)"),
        (["alice", "9" * 5000], "not a valid integer"),
        (["a b", "72"], "the username contains U+0020"),
        (["", "72"], "the username is empty"),
        (["\udcff", "72"], "the username contains U+DCFF"),
        (["alice"], "Missing argument"),
        (["alice", "72", "--wait", "0"], "--wait"),
    ],
)
def test_what_cannot_be_published(tmp_path: Path, arguments: list[str], said: str) -> None:
    refused = CliRunner().invoke(main, ["publish", *arguments], env=environment(tmp_path))
    assert refused.exit_code == 2
    assert said in refused.stderr
    assert "Traceback" not in refused.output
    assert not (tmp_path / "scores.db").exists()


def test_without_a_secret_key(tmp_path: Path) -> None:
    refused = CliRunner().invoke(main, ["publish", "alice", "72"], env=environment(tmp_path, SECRET_KEY=""))
    assert refused.exit_code == 2
    assert "BRISCOLA_SECRET_KEY: is not set" in refused.stderr


def test_a_database_that_cannot_be_opened(tmp_path: Path) -> None:
    env = environment(tmp_path, DATABASE_URL=f"sqlite:///{tmp_path}")
    refused = CliRunner().invoke(main, ["publish", "alice", "72"], env=env)
    assert refused.exit_code == 2
    assert "unable to open" in refused.stderr


async def test_beside_a_running_service(tmp_path: Path) -> None:
    """Both deliver from one database, and every score arrives."""
    make_key(tmp_path / "scores.db")
    async with FakeRelay() as relay:
        env = environment(tmp_path, RELAYS=relay.url)
        async with serving(env):
            ended = await asyncio.gather(*(run(env, "publish", name, "72", "--json") for name in ("a", "b")))
        assert [one.code for one in ended] == [0, 0], [one.stderr for one in ended]
        assert {json.loads(one.stdout)["event"]["id"] for one in ended} == set(relay.stored)


async def test_with_other_relays_it_takes_none_from_a_running_service(tmp_path: Path) -> None:
    async with FakeRelay() as relay, serving(environment(tmp_path)) as service:
        ended = await run(environment(tmp_path, RELAYS=relay.url), "publish", "alice", "72")
        assert ended.code == 0, ended.stderr
        assert sorted(rows(tmp_path / "scores.db", "SELECT url, retired FROM relay")) == sorted(
            [(NOWHERE, 0), (relay.url, 0)]
        )
        assert service.process.returncode is None
