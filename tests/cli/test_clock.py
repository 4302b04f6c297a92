"""`clock`: what it shows, and signing again in a service that runs."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import pytest
from click.testing import CliRunner, Result

from app.cli import main
from tests.clock import Clock
from tests.service import running

if TYPE_CHECKING:
    from pathlib import Path

HOUR = 3600


def run(*arguments: str) -> Result:
    return CliRunner().invoke(main, ["clock", *arguments])


@pytest.mark.usefixtures("database")
def test_a_clock_that_is_right() -> None:
    shown = json.loads(run("--json").stdout)
    assert (shown["newest"], shown["behind"], shown["names"]) == (None, 0, [])
    result = run("--reset")
    assert (result.exit_code, "nothing to reset" in result.stdout) == (0, True)


@pytest.mark.usefixtures("database")
async def test_a_running_service_signs_again(tmp_path: Path) -> None:
    clock = Clock(time.time() + HOUR)
    async with running(tmp_path, clock=clock) as service:
        ahead = (await service.post("alice", 72)).json()["event"]["created_at"]
        clock.now -= HOUR
        assert (await service.post("bob", 72)).status_code == 503
        shown = run()
        assert shown.exit_code == 1
        assert "clock --reset" in shown.stdout
        document = json.loads(run("--json").stdout)
        assert HOUR - 60 < document["behind"] <= HOUR
        assert document["names"] == [{"d": "alice", "until": ahead + 1 - 60}]
        assert (await service.post("bob", 72)).status_code == 503, "looking changes nothing"
        reset = run("--reset")
        assert (reset.exit_code, "from now on" in reset.stdout) == (0, True)
        assert "alice: no score before" in reset.stdout
        clock.now = time.time()
        bob = await service.post("bob", 72)
        assert bob.status_code == 201
        assert bob.json()["event"]["created_at"] == int(clock.now)
        assert (await service.post("alice", 73)).status_code == 429
        assert run().exit_code == 0
