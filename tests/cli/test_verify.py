from __future__ import annotations

import json
import os
import pty
import signal
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest
from click.testing import CliRunner, Result

from app.cli import main
from app.nostr import nip19
from app.nostr.keys import SecretKey
from app.scores.score_event import SEED_PUBKEY, sign_score
from tests.vectors import load

ROOT = Path(__file__).parents[2]
SECRET = SecretKey.parse("0" * 62 + "2a")
GOOD = sign_score(SECRET, username="Zoë", score=72, created_at=1_700_000_000)
BAD = {**GOOD.to_dict(), "sig": "0" * 128}
ODD = load("score_events.json")["app_keys_for_tests_only"]["fresh"]["pubkey"]


def run(*arguments: str, data: str | bytes = "", **environment: str) -> Result:
    variables: dict[str, str | None] = {"BRISCOLA_PUBLIC_KEYS": None, **environment}
    return CliRunner().invoke(main, ["verify", *arguments], input=data, env=variables)


def test_a_good_event() -> None:
    result = run("--pubkey", SECRET.pubkey, data=GOOD.to_json())
    assert (result.exit_code, result.stdout, result.stderr) == (0, "1 event: 1 verified\n", "")


def test_json_lines_out() -> None:
    result = run("-", "--json", "--pubkey", SECRET.pubkey, data=f"{GOOD.to_json()}\n{json.dumps(BAD)}\n")
    good, bad = map(json.loads, result.stdout.splitlines())
    assert result.exit_code == 1
    assert result.stdout.startswith(
        f'{{"index":0,"id":"{GOOD.id}","ok":true,"failed":null,"consistent":true,"reasons":[],'
        '"username":"Zo\\u00eb","score":72}\n'
    )
    assert (good["username"], good["score"]) == ("Zoë", 72)
    assert (bad["index"], bad["ok"], bad["failed"]) == (1, False, "signature")
    assert bad["reasons"] == ["the signature is not this public key's for this id"]


def test_people_get_a_reason_for_each_fault_and_a_sum() -> None:
    lines = [GOOD.to_json(), json.dumps(BAD), "x", json.dumps({**GOOD.to_dict(), "kind": 1})]
    result = run("--pubkey", SECRET.pubkey, data="\n".join(lines))
    assert result.exit_code == 1
    assert result.stdout.splitlines() == [
        f"     1  signature     {GOOD.id[:12]}  the signature is not this public key's for this id",
        "     2  unparsable    -             not JSON at character 0: a value expected",
        f"     3  kind          {GOOD.id[:12]}  the kind is 1, not 31250",
        "4 events: 1 verified, 3 bad (unparsable 1, kind 1, signature 1)",
    ]


def test_every_vector(tmp_path: Path) -> None:
    cases = [case for case in load("score_events.json")["cases"] if case["app_pubkey"] == ODD]
    file = tmp_path / "events.json"
    file.write_text("[" + ",".join(case["raw"] for case in cases if case["group"] != "text") + "]", "utf-8")
    result = run(str(file), "--json", "--pubkey", ODD)
    verdicts = [json.loads(line) for line in result.stdout.splitlines()]
    judged = [case for case in cases if case["group"] != "text"]
    assert result.exit_code == 1
    assert len(verdicts) == len(judged) > 100
    for case, verdict in zip(judged, verdicts, strict=True):
        assert case["expected"] in (verdict["failed"] or "ok", "either")
        assert verdict["consistent"] is bool(case["consistent"])


def test_an_inconsistent_event_is_told_and_is_not_bad() -> None:
    case = next(case for case in load("score_events.json")["cases"] if case["note"] == "score tag 072")
    result = run("--pubkey", case["app_pubkey"], data=case["raw"])
    assert result.exit_code == 0
    assert "inconsistent" in result.stdout.splitlines()[0]
    assert result.stdout.endswith("1 event: 1 verified, 1 of them inconsistent\n")


def test_what_an_event_holds_never_reaches_the_terminal_raw() -> None:
    wild = "\x1b[31m\u202e[red]\x07"
    event = {**GOOD.to_dict(), "id": wild.ljust(64), "kind": wild, "tags": [[wild, "x"]]}
    result = run("--pubkey", SECRET.pubkey, data=json.dumps(event))
    assert result.stdout.isascii()
    assert result.stdout.replace("\n", "").isprintable()


@pytest.mark.parametrize(
    "key", [SECRET.pubkey, SECRET.pubkey.upper(), nip19.encode("npub", bytes.fromhex(SECRET.pubkey))]
)
def test_the_key_in_any_spelling_from_option_or_environment(key: str) -> None:
    assert run("--pubkey", key, data=GOOD.to_json()).exit_code == 0
    assert run("--pubkey", ODD, "--pubkey", key, data=GOOD.to_json()).exit_code == 0
    assert run(data=GOOD.to_json(), BRISCOLA_PUBLIC_KEYS=f"{ODD}, {key},").exit_code == 0
    assert run("--pubkey", ODD, data=GOOD.to_json(), BRISCOLA_PUBLIC_KEYS=key).exit_code == 1


def test_the_published_key_is_taken_with_a_warning() -> None:
    event = sign_score(SecretKey.parse("0" * 63 + "1"), username="alice", score=1, created_at=1)
    result = run("--pubkey", SEED_PUBKEY, "--json", data=event.to_json())
    assert result.exit_code == 0
    assert "anyone can sign" in result.stderr
    assert json.loads(result.stdout)["ok"] is True


@pytest.mark.parametrize(
    ("arguments", "data", "message"),
    [
        ([], "", "no public key"),
        (["--pubkey", "ab"], "", "--pubkey: the public key is neither"),
        (["--pubkey", ""], "", "--pubkey: the public key is missing or empty"),
        (["--pubkey", SECRET.to_nsec()], "", "this is an nsec"),
        (["--pubkey", ODD], "", "'-': it is empty"),
        (["--pubkey", ODD], "[]", "its array is empty"),
        (["--pubkey", ODD], "hello", "nothing in it is a JSON object"),
        (["--pubkey", ODD], GOOD.to_json().encode("utf-16"), "nothing in it is a JSON object"),
        (["--pubkey", ODD], "[" + GOOD.to_json(), "breaks off"),
        (["--pubkey", ODD, "/nowhere/at all"], "", "cannot read '/nowhere/at all': No such file"),
        (["--pubkey", ODD, "a\0b"], "", "cannot read 'a\\x00b'"),
        (["--pubkey", ODD, "/"], "", "cannot read '/': Is a directory"),
        (["--pubkey", ODD, "a", "b"], "", "unexpected extra argument"),
    ],
)  # fmt: skip
def test_unusable_input_exits_2_with_the_reason(arguments: list[str], data: Any, message: str) -> None:
    result = run(*arguments, data=data)
    assert result.exit_code == 2
    assert message in result.stderr
    assert SECRET.to_nsec() not in result.output
    assert "Traceback" not in result.output


@pytest.mark.skipif(os.geteuid() == 0, reason="root may read everything")
def test_a_file_without_permission(tmp_path: Path) -> None:
    file = tmp_path / "events.json"
    file.write_text(GOOD.to_json())
    file.chmod(0)
    result = run(str(file), "--pubkey", SECRET.pubkey)
    assert (result.exit_code, "Permission denied" in result.stderr) == (2, True)


def shell(script: str) -> subprocess.CompletedProcess[str]:
    """Run a line of bash in which VERIFY is the command."""
    command = f"{sys.executable} -m app verify --pubkey {SECRET.pubkey}"
    return subprocess.run(
        ["bash", "-c", script.replace("VERIFY", command)],
        cwd=ROOT,
        capture_output=True,
        text=True,
        check=False,
    )


@pytest.mark.parametrize("count", [1000, 30_000])
def test_a_reader_that_has_seen_enough(tmp_path: Path, count: int) -> None:
    file = tmp_path / "events.jsonl"
    file.write_text((GOOD.to_json() + "\n") * count)
    result = shell(f"VERIFY --json {file} | head -1")
    assert json.loads(result.stdout)["ok"] is True
    assert result.stderr == ""


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="there is no /dev/full")
def test_verdicts_that_cannot_be_written() -> None:
    result = shell(f"VERIFY > /dev/full <<< '{json.dumps(BAD)}'")
    assert result.returncode == 2
    assert "cannot write the verdicts: No space left" in result.stderr
    assert "Traceback" not in result.stderr


def test_a_closed_standard_input() -> None:
    result = shell("VERIFY <&-")
    assert (result.returncode, result.stderr) == (2, "Error: cannot read standard input: it is closed\n")


def test_an_interrupt_ends_the_command(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    os.mkfifo(file)
    process = subprocess.Popen(
        [sys.executable, "-m", "app", "verify", "--json", "--pubkey", SECRET.pubkey, str(file)],
        cwd=ROOT, stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
    )  # fmt: skip
    with file.open("w") as pipe:
        pipe.write(GOOD.to_json() + "\n")
        pipe.flush()
        assert process.stdout is not None
        assert b'"ok":true' in process.stdout.readline()
        os.killpg(process.pid, signal.SIGINT)
        _, errors = process.communicate(timeout=30)
    assert process.returncode == 1
    assert errors.strip() == b"Aborted!"


def in_terminal(*arguments: str, **environment: str) -> tuple[int, str]:
    """Exit code and everything shown of the command run in a terminal of its own."""
    main_end, terminal = pty.openpty()
    process = subprocess.Popen(
        [sys.executable, "-m", "app", "verify", "--pubkey", SECRET.pubkey, *arguments],
        stdin=terminal, stdout=terminal, stderr=terminal, cwd=ROOT,
        env={**os.environ, "TERM": "xterm", "COLUMNS": "100", **environment},
    )  # fmt: skip
    os.close(terminal)
    shown = b""
    while True:
        try:
            piece = os.read(main_end, 65536)
        except OSError:  # the other end is closed
            break
        if not piece:
            break
        shown += piece
    os.close(main_end)
    return process.wait(), shown.decode()


def test_colour_on_a_terminal_only(tmp_path: Path) -> None:
    file = tmp_path / "event.json"
    file.write_text(GOOD.to_json())
    code, shown = in_terminal(str(file))
    assert (code, "\x1b[32m1 verified\x1b[0m" in shown) == (0, True)
    _, shown = in_terminal(str(file), NO_COLOR="1")
    assert "\x1b[32m" not in shown


def test_a_long_file_shows_its_progress_and_uses_processes(tmp_path: Path) -> None:
    file = tmp_path / "events.jsonl"
    file.write_text((GOOD.to_json() + "\n") * 5000 + json.dumps(BAD))
    code, shown = in_terminal(str(file))
    assert code == 1
    assert "Verifying" in shown
    assert "5001 events:" in shown
    assert "  5000  " in shown
    code, shown = in_terminal("--json", str(file))
    assert "Verifying" not in shown
    assert shown.count('"ok":true') == 5000
