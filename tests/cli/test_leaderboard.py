"""`leaderboard`: what the relays hold, for people and for machines."""

from __future__ import annotations

import asyncio
import json
import signal
from typing import TYPE_CHECKING, Any

import pytest
from nostr_sdk import Keys
from pydantic import TypeAdapter

from app.web.answers import BoardDocument
from tests.process import Ended, environment, run, start
from tests.relays.events import publish, signed_event
from tests.relays.fake import FakeRelay, respond
from tests.service import NOWHERE, PUBKEY, SECRET

if TYPE_CHECKING:
    from pathlib import Path

KEYS, STRANGER = Keys.parse(SECRET), Keys.generate()
# ESC, a C1 control, a right-to-left override and a zero-width space: a terminal would obey the first three.
NASTY = "\x1b[31mE\x9b\u202evil\u200b"
SCORES = [
    signed_event(KEYS, "Anna", 72, 1_700_000_000),
    signed_event(KEYS, "Bob", 90, 1_700_000_000),
    signed_event(KEYS, NASTY, 5, 1_700_000_000),
    signed_event(STRANGER, "Mallory", 120, 1_700_000_000),
]


@pytest.fixture
def bare(tmp_path: Path) -> dict[str, str]:
    """An environment without settings, in UTC."""
    return environment(tmp_path, SECRET_KEY="", RELAYS="", DATABASE_URL="") | {"TZ": "UTC", "COLUMNS": "100"}


@pytest.fixture
async def relay(rust_relay: str) -> str:
    await publish(rust_relay, *SCORES)
    return rust_relay.rstrip("/")


def document(ended: Ended) -> dict[str, Any]:
    TypeAdapter(BoardDocument).validate_json(ended.stdout)
    found: dict[str, Any] = json.loads(ended.stdout)
    return found


async def test_for_people(bare: dict[str, str], relay: str) -> None:
    ended = await run(bare, "leaderboard", "--relay", relay, "--pubkey", PUBKEY)
    assert (ended.code, ended.stderr) == (0, "")
    rows = [line.split() for line in ended.stdout.splitlines()]
    assert ["1", "Bob", "90", "2023-11-14", "22:13"] in rows
    assert ["2", "Anna", "72", "2023-11-14", "22:13"] in rows
    assert ["3", "players"] in rows
    assert "Mallory" not in ended.stdout
    assert "\ufffd[31mE\ufffd\ufffdvil\ufffd" in ended.stdout
    assert not set("\x1b\x9b\u202e\u200b") & set(ended.stdout)
    few = await run(bare, "leaderboard", "--relay", relay, "--pubkey", PUBKEY, "--limit", "1")
    assert "Bob" in few.stdout
    assert "Anna" not in few.stdout


@pytest.mark.parametrize(
    ("count", "told"),
    [
        (1, "1 event waits, more than 15 minutes ahead of this clock"),
        (2, "2 events wait, more than 15 minutes ahead of this clock"),
    ],
)
async def test_events_of_the_future_are_told_of(bare: dict[str, str], count: int, told: str) -> None:
    events = [json.loads(signed_event(KEYS, f"p{number}", 1, 9_000_000_000)) for number in range(count)]
    async with FakeRelay(stored={event["id"]: event for event in events}) as relay:
        ended = await run(bare, "leaderboard", "--relay", relay.url, "--pubkey", PUBKEY)
    assert ended.stdout.splitlines()[1:] == ["0 players", told]


async def test_for_machines(bare: dict[str, str], relay: str) -> None:
    ended = await run(bare, "leaderboard", "--relay", relay, "--pubkey", PUBKEY, "--json")
    assert (ended.code, ended.stderr) == (0, "")
    assert ended.stdout.isascii()
    assert ended.stdout.count("\n") == 1
    found = document(ended)
    assert [(e["rank"], e["username"], e["score"]) for e in found["entries"]] == [
        (1, "Bob", 90),
        (2, "Anna", 72),
        (3, NASTY, 5),
    ]
    assert found["entries"][0]["event"] == json.loads(SCORES[1])
    assert found["complete"] is True
    assert found["next"] is None
    assert found["relays"] == [{"url": relay, "state": "live", "reason": "", "complete": True}]


async def test_a_board_that_may_not_be_complete(bare: dict[str, str], relay: str) -> None:
    async with FakeRelay(on_handshake=respond(503)) as faulty:
        options = ("--relay", relay, "--relay", faulty.url, "--pubkey", PUBKEY)
        people = await run(bare, "leaderboard", *options)
        machines = await run(bare, "leaderboard", *options, "--json")
    assert people.code == machines.code == 1
    assert "3 players, perhaps not all:\n" in people.stdout
    assert f"  {faulty.url} failed: the relay answered HTTP 503" in people.stdout
    found = document(machines)
    assert len(found["entries"]) == 3
    assert found["complete"] is False


async def test_the_settings_of_the_service_are_enough(tmp_path: Path, relay: str) -> None:
    service = environment(tmp_path, RELAYS=relay)
    mirror = environment(tmp_path, SECRET_KEY="", PUBLIC_KEYS=PUBKEY, RELAYS=relay)
    for env in (service, mirror):
        ended = await run(env, "leaderboard", "--json")
        assert ended.code == 0, ended.stderr
        assert len(document(ended)["entries"]) == 3
    assert not (tmp_path / "scores.db").exists()


@pytest.mark.parametrize(
    ("options", "said"),
    [
        (("--relay", NOWHERE), "no public key to verify against: give --pubkey"),
        (("--relay", NOWHERE, "--pubkey", "npub1x"), "--pubkey: "),
        (("--relay", "ftp://x", "--pubkey", PUBKEY), "--relay: "),
        (("--pubkey", PUBKEY, "--limit", "0"), "--limit"),
    ],
)
async def test_what_cannot_be_used_is_told(bare: dict[str, str], options: tuple[str, ...], said: str) -> None:
    ended = await run(bare, "leaderboard", *options)
    assert ended.code == 2
    assert said in ended.stderr
    assert "Traceback" not in ended.stderr


async def test_a_key_that_everybody_knows_is_warned_of(bare: dict[str, str]) -> None:
    seed = "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"
    ended = await run(bare, "leaderboard", "--relay", NOWHERE, "--pubkey", seed, "--json")
    assert ended.code == 1
    assert "secret key is 1" in ended.stderr
    assert document(ended)["entries"] == []


async def test_watching_shows_what_changes_until_ctrl_c(bare: dict[str, str], relay: str) -> None:
    options = ("--relay", relay, "--pubkey", PUBKEY, "--json", "--watch")
    process = await start(bare, "leaderboard", *options)
    assert process.stdout is not None
    async with asyncio.timeout(30):
        assert len(json.loads(await process.stdout.readline())["entries"]) == 3
        await publish(relay, signed_event(KEYS, "anna", 100, 1_700_000_001))
        while True:
            found = json.loads(await process.stdout.readline())
            if found["entries"][0]["username"] == "anna":
                break
        process.send_signal(signal.SIGINT)
        _, stderr = await process.communicate()
    assert [(e["rank"], e["score"]) for e in found["entries"]] == [(1, 100), (2, 90), (3, 5)]
    assert process.returncode == 0
    assert stderr == b""
