"""`demo --once`: the round trip, and its exit code when a step fails."""

from __future__ import annotations

import socket
from typing import TYPE_CHECKING

from click.testing import CliRunner

from app.cli import demo
from app.cli.demo import command
from tests.process import environment, run

if TYPE_CHECKING:
    from pathlib import Path

    import pytest


async def test_the_round_trip_ends_well_with_nothing_configured(tmp_path: Path) -> None:
    env = environment(tmp_path, SECRET_KEY="", RELAYS="", DATABASE_URL="")
    ended = await run(env, "demo", "--once")
    assert ended.code == 0, ended.stderr
    for check in ("kind", "pubkey", "app", "signature", "content"):
        assert check in ended.stdout
    assert "verified: alice has 72 points" in ended.stdout
    assert "Traceback" not in ended.stderr


def test_a_step_that_fails_ends_it_with_one(monkeypatch: pytest.MonkeyPatch) -> None:
    async def fail(*_: object) -> None:
        raise demo._StepFailed("the relay lost it")

    monkeypatch.setattr(demo, "_round_trip", fail)
    ended = CliRunner().invoke(command, [])
    assert ended.exit_code == 1
    assert "Failed: the relay lost it" in ended.stderr


def test_a_port_in_use() -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        ended = CliRunner().invoke(command, ["--once", "--port", str(taken.getsockname()[1])])
    assert ended.exit_code == 2
    assert "cannot listen" in ended.stderr
