"""`replay` as it is typed: what it proves, what it refuses, with which exit code."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from app.cli import main
from app.matches.match import Ply, Side
from app.nostr.event import sign_event
from tests.matches.made import APP, NOW, PLAYER, made
from tests.vectors import load

ROOT = Path(__file__).parents[2]
VECTORS = load("match.json")
MADE = made("sharp")
GOOD = MADE.event.to_json()


def run(*arguments: str, data: str | bytes = GOOD, key: str = APP.pubkey) -> Result:
    environment = {"BRISCOLA_PUBLIC_KEYS": None, "COLUMNS": "80"}
    return CliRunner().invoke(main, ["replay", *arguments, "--pubkey", key], input=data, env=environment)


@pytest.mark.parametrize("case", VECTORS["matches"], ids=lambda case: f"{case['level']}-{case['match'][:6]}")
def test_transcripts_of_another_reading(case: Any, tmp_path: Path) -> None:
    file = tmp_path / "transcript.json"
    file.write_text(json.dumps(case["event"], indent=1), "utf-8")
    result = run(str(file), key=VECTORS["app_pubkey"])
    assert result.exit_code == 0, result.output
    player, computer = case["points"]
    how = f", {case['forfeit']}" if case["forfeit"] else ""
    lines = result.stdout.splitlines()
    assert lines[0] == (
        f"{case['username']} against the computer at level {case['level']}: {player} to {computer}{how}."
    )
    proved, unproved = lines.index("Proved:"), lines.index("Not proved:")
    assert f"  the computer played exactly what level {case['level']} plays" in lines[proved:unproved]
    assert any("a person chose" in line for line in lines[unproved:])


def test_json() -> None:
    result = run("--json")
    verdict = json.loads(result.stdout)
    assert (result.exit_code, result.stdout.count("\n")) == (0, 1)
    assert (verdict["ok"], verdict["id"], verdict["username"]) == (True, MADE.event.id, "alice")
    assert verdict["points"] == MADE.transcript.points._asdict()
    result = run("--json", key=PLAYER.pubkey)
    assert (result.exit_code, json.loads(result.stdout)["ok"]) == (1, False)


def test_a_false_ply_is_named_and_the_hand_shown_up_to_it() -> None:
    plays = list(MADE.transcript.plays)
    plays[2] = Ply(Side.COMPUTER if plays[2].side is Side.PLAYER else Side.PLAYER, plays[2].card)
    result = run("--show", data=MADE.changed(plays=tuple(plays)).to_json())
    assert result.exit_code == 1
    lines = result.stdout.splitlines()
    assert sum(line[:1].isdigit() for line in lines) == 1
    assert lines[-2] == "This transcript is false:"
    assert lines[-1].startswith("  ply 3 is the ")


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (b"", "it is empty"),
        (b" \n", "it is empty"),
        (b"x", "not JSON"),
        (b"[]", "an event is a JSON object"),
        (b"\xff\xfe", "not"),
        (b" " * 70_000, "is empty"),
        (b"1" * 70_000, "over 65536 bytes long"),
    ],
)
def test_what_is_no_event_exits_2(data: bytes, message: str) -> None:
    result = run(data=data)
    assert (result.exit_code, result.stdout) == (2, "")
    assert message in result.stderr


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (["/nowhere/at all"], "cannot read '/nowhere/at all': No such file"),
        (["/"], "cannot read '/': Is a directory"),
        (["a", "b"], "unexpected extra argument"),
    ],
)
def test_files_that_cannot_be_used(arguments: list[str], message: str) -> None:
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr


def test_an_event_that_is_no_transcript_exits_1() -> None:
    assert MADE.transcript.score_event is not None
    result = run(data=MADE.transcript.score_event.to_json())
    assert result.exit_code == 1
    assert "the event is of kind 31250: a transcript is of kind 30078" in result.stdout


def test_what_a_transcript_holds_never_reaches_the_terminal_raw() -> None:
    wild = "\x1b[31m\u202e[red]\x07"
    event = made(username=wild).event
    result = run("--show", data=event.to_json())
    assert result.exit_code == 0  # true, though this service would never publish such a name
    content = json.loads(event.content)
    content["forfeit"] = content["username"] = wild
    text = json.dumps(content, sort_keys=True, separators=(",", ":"), ensure_ascii=False)
    false = sign_event(APP, created_at=NOW, kind=30078, tags=[["d", wild]], content=text)
    output = result.stdout + run("--show", data=false.to_json()).stdout
    assert all(char.isprintable() or char == "\n" for char in output)
    assert "\u202e" not in output


def test_a_full_disk() -> None:
    if not Path("/dev/full").exists():
        pytest.skip("there is no /dev/full")
    command = [sys.executable, "-m", "app", "replay", "--pubkey", APP.pubkey]
    with Path("/dev/full").open("w") as full:
        result = subprocess.run(
            command, cwd=ROOT, input=GOOD, stdout=full, stderr=subprocess.PIPE, text=True, check=False
        )
    assert result.returncode == 2
    assert "cannot write the verdict: No space left" in result.stderr
