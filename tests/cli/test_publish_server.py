"""`publish --server` as a player runs it: a process with a key in its environment."""

from __future__ import annotations

import asyncio
import json
import os
import sys
from contextlib import asynccontextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner

from app.cli.publish import command
from tests.nostr.tokens import ALICE, BOB, pubkey_of
from tests.relays.fake import FakeRelay, ok
from tests.served import served
from tests.service import PUBKEY, rows, running

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from tests.service import Running

ROOT = Path(__file__).parent.parent.parent


@dataclass
class Ended:
    code: int
    out: str
    err: str


async def publish(*arguments: str, **keys: str) -> Ended:
    """Run the command; `keys` are settings without their prefix."""
    environ = {name: value for name, value in os.environ.items() if not name.startswith("BRISCOLA_")}
    environ |= {f"BRISCOLA_{name}": value for name, value in keys.items()} | {"PYTHONPATH": str(ROOT)}
    process = await asyncio.create_subprocess_exec(
        sys.executable, "-m", "app", "publish", *arguments,
        env=environ, stdout=asyncio.subprocess.PIPE, stderr=asyncio.subprocess.PIPE,
    )  # fmt: skip
    out, err = await process.communicate()
    assert process.returncode is not None
    return Ended(process.returncode, out.decode(), err.decode())


@asynccontextmanager
async def serving(folder: Path, relay: FakeRelay) -> AsyncIterator[tuple[Running, str]]:
    async with running(folder, relay.url) as service, served(service.service) as url:
        yield service, url


async def test_a_player_publishes_with_their_own_key(tmp_path: Path) -> None:
    async with FakeRelay() as relay, serving(tmp_path, relay) as (service, url):
        ended = await publish("alice", "72", "--server", url, PLAYER_KEY=ALICE.hex())
        assert (ended.code, ended.err) == (0, f"accepted   {relay.url}\n")
        event = json.loads(ended.out)
        assert event["pubkey"] == PUBKEY
        assert event["content"] == '{"v":1,"username":"alice","score":72}'
        assert rows(service.path, "SELECT d, owner FROM name") == [("alice", f"nostr:{pubkey_of(ALICE)}")]
        taken = await publish("Alice", "73", "--server", url, PLAYER_KEY=BOB.hex())
        assert (taken.code, taken.out) == (2, "")
        assert taken.err.startswith("Error: ")
        assert "belongs to another player" in taken.err


async def test_a_game_server_publishes_with_an_api_key(tmp_path: Path) -> None:
    async with FakeRelay() as relay, serving(tmp_path, relay) as (service, url):
        ended = await publish("alice", "72", "--json", "--server", url, API_KEY=service.token)
        assert (ended.code, ended.err) == (0, "")
        answer = json.loads(ended.out)
        assert answer["state"] == "accepted"
        assert answer["relays"] == [{"url": relay.url, "state": "accepted", "message": "", "attempts": 1}]
        refused = await publish("alice", "72", "--server", url, API_KEY="wrong")
        assert refused.code == 2
        assert "unknown or revoked" in refused.err


async def test_a_score_that_no_relay_takes_is_exit_code_1(tmp_path: Path) -> None:
    async with (
        FakeRelay(on_event=ok(False, "blocked: no")) as relay,
        serving(tmp_path, relay) as (service, url),
    ):
        ended = await publish("alice", "72", "--server", url, API_KEY=service.token)
        assert (ended.code, ended.err) == (1, f"rejected   {relay.url}: blocked: no\n")


SOMEWHERE = "http://127.0.0.1:1"
UNUSABLE: dict[str, tuple[str, dict[str, str], str]] = {
    "no key": (SOMEWHERE, {}, "set one of BRISCOLA_PLAYER_KEY"),
    "both keys": (SOMEWHERE, {"PLAYER_KEY": ALICE.hex(), "API_KEY": "k"}, "set one of BRISCOLA_PLAYER_KEY"),
    "a player key that is none": (
        SOMEWHERE,
        {"PLAYER_KEY": "sesame"},
        "BRISCOLA_PLAYER_KEY: the secret key",
    ),
    "an API key that is none": (SOMEWHERE, {"API_KEY": "ses ame\u00e9"}, "the API key is empty or has"),
    "nobody listens": (SOMEWHERE, {"API_KEY": "k"}, f"no answer from {SOMEWHERE}"),
    "no address": ("nowhere", {"API_KEY": "k"}, "give one such as https://scores.example"),
}


def invoke(monkeypatch: pytest.MonkeyPatch, *arguments: str, **keys: str) -> Ended:
    """The command in this process, which is quicker where nobody answers."""
    for name in list(os.environ):
        if name.startswith("BRISCOLA_"):
            monkeypatch.delenv(name)
    environ = {f"BRISCOLA_{name}": value for name, value in keys.items()}
    result = CliRunner().invoke(command, arguments, env=environ)
    return Ended(result.exit_code, result.stdout, result.stderr)


@pytest.mark.parametrize(("server", "keys", "said"), UNUSABLE.values(), ids=UNUSABLE.keys())
def test_what_cannot_be_used_is_exit_code_2(
    monkeypatch: pytest.MonkeyPatch, server: str, keys: dict[str, str], said: str
) -> None:
    ended = invoke(monkeypatch, "alice", "72", "--server", server, **keys)
    assert (ended.code, ended.out) == (2, "")
    assert said in ended.err
    assert "Traceback" not in ended.err
    assert not any(key in ended.err for key in keys.values() if len(key) > 1)


def test_a_score_that_cannot_be_is_told_before_anybody_is_asked(monkeypatch: pytest.MonkeyPatch) -> None:
    ended = invoke(monkeypatch, "al ice", "72", "--server", SOMEWHERE, API_KEY="k")
    assert ended.code == 2
    assert "the username contains U+0020" in ended.err
