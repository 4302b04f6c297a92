"""`outbox list|retry`, also beside a running service."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from click.testing import CliRunner, Result

from app.cli import main
from tests.relays.fake import FakeRelay, ok, store
from tests.service import NOWHERE, running

if TYPE_CHECKING:
    from pathlib import Path


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["outbox", *arguments])


def listed(*arguments: str) -> list[dict[str, Any]]:
    result = run("list", "--json", *arguments)
    assert result.exit_code == 0, result.output
    return [json.loads(line) for line in result.stdout.splitlines()]


@pytest.mark.usefixtures("database")
def test_nothing_waits() -> None:
    result = run("list")
    assert (result.exit_code, result.stdout) == (0, "")
    assert "Nothing waits" in result.stderr
    assert listed() == []
    assert json.loads(run("retry", "--all", "--json").stdout) == {"retried": 0}
    assert "Nothing was retried" in run("retry", "--all").stderr


@pytest.mark.usefixtures("database")
@pytest.mark.parametrize(
    ("arguments", "words"),
    [
        (["retry"], "say what to retry"),
        (["retry", "--all", "0" * 64], "say what to retry"),
        (["retry", "--all", "--relay", NOWHERE], "say what to retry"),
        (["retry", "abc"], "'abc' is no event's id: give 64 lower-case hex digits"),
        (["retry", "0" * 64], f"no event with the id {'0' * 64} was signed here"),
        (["retry", "--relay", "ftp://x"], "use wss:// or ws://"),
        (["retry", "--relay", NOWHERE], f"no score was ever meant for {NOWHERE}; relays are: none"),
        (["list", "--relay", NOWHERE], f"no score was ever meant for {NOWHERE}; relays are: none"),
        (["list", "--relay", "ftp://x"], "use wss:// or ws://"),
        (["list", "--state", "lost"], "'lost' is not one of"),
    ],
)
def test_what_cannot_be_done(arguments: list[str], words: str) -> None:
    result = run(*arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert words in result.stderr


@pytest.mark.usefixtures("database")
async def test_a_running_service_takes_up_what_is_tried_again(tmp_path: Path) -> None:
    refuse = ok(False, "blocked:\tnot today")
    async with FakeRelay(on_event=refuse) as relay, running(tmp_path, relay.url) as service:
        document = (await service.post("alice", 72, Prefer="wait=10")).json()
        event_id = document["event"]["id"]
        [one] = listed()
        assert {"event_id": event_id, "username": "alice", "relay": relay.url}.items() <= one.items()
        assert (one["state"], one["attempts"], one["message"]) == ("rejected", 1, "blocked: not today")
        assert [row["event_id"] for row in listed("--state", "rejected", "--relay", relay.url)] == [event_id]
        assert listed("--state", "pending") == []
        assert listed("--relay", relay.url) == listed()
        shown = run("list", "--relay", relay.url.upper().replace("WS", "ws")).stdout
        assert all(word in shown for word in ("rejected", event_id, relay.url, "alice: blocked: not today"))

        relay.on_event = store
        assert json.loads(run("retry", "--json", "--all").stdout) == {"retried": 0}, "it has not failed"
        watch = service.service.engine.watch(event_id, [relay.url])
        assert run("retry", event_id).stdout == "1 delivery is tried again from now on.\n"
        await relay.until(lambda: event_id in relay.stored)
        await watch.wait(30)
        assert listed() == []
        state = (await service.http.get(f"/v1/scores/{event_id}")).json()["state"]
        assert state == "accepted"
