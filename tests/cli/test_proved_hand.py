"""`play --server`: a whole hand on a real service with a real relay, left and gone on with."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING

import httpx

from app.client import Client
from app.match_client import RemoteMatch
from app.nostr.keys import SecretKey
from tests.process import ROOT, environment, serving
from tests.relays.real import rust_relay

if TYPE_CHECKING:
    from pathlib import Path

PLAYER = f"{5:064x}"


async def begin(env: dict[str, str], *options: str) -> asyncio.subprocess.Process:
    """The command, waiting for what is typed."""
    return await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "app", "play", *options),
        env=env,
        cwd=ROOT,
        stdin=asyncio.subprocess.PIPE,
        stdout=asyncio.subprocess.PIPE,
        stderr=asyncio.subprocess.PIPE,
    )


async def play(env: dict[str, str], typed: str, *options: str) -> tuple[int | None, str, str]:
    """Exit code, output and errors of a hand."""
    process = await begin(env, *options)
    out, err = await process.communicate(typed.encode())
    return process.returncode, out.decode(), err.decode()


async def test_a_hand_is_left_gone_on_with_and_published(tmp_path: Path) -> None:
    async with rust_relay() as relay, serving(environment(tmp_path, RELAYS=relay)) as service:
        env = environment(tmp_path, PLAYER_KEY=PLAYER, SECRET_KEY="")
        options = ("--server", service.url, "--name", "alice", "--level", "sharp")
        code, _, err = await play(env, "1\n" * 7, *options)
        assert (code, "it waits on the service" in err) == (2, True)
        code, out, err = await play(env, "1\n" * 13, *options)
        assert code == 0, err
        lines = out.splitlines()
        assert "Going on where you left it." in lines[0]
        assert "Trick 20 · stock empty" in out
        told = next(line for line in lines if line.startswith(("You win", "You lose", "Sixty all")))
        assert any(line.split() == ["accepted", relay] for line in lines)
        assert "On the board: place 1." in lines
        assert lines[-1] == "Replayed here from the seeds: every play is as it must be."
        async with httpx.AsyncClient(base_url=service.url) as http:
            row = (await http.get("/v1/leaderboard?proved=1&level=sharp")).json()["entries"][0]
            assert (await http.get("/v1/leaderboard?level=gentle")).json()["entries"] == []
        assert row["username"] == "alice"
        assert str(row["score"]) in told or told == "Sixty all."
        # Somebody who has no more than the relay and the key sees it proved too.
        mirroring = environment(tmp_path, RELAYS=relay, SECRET_KEY="", PUBLIC_KEYS=row["event"]["pubkey"])
        async with (
            serving(mirroring, "--read-only") as mirror,
            httpx.AsyncClient(base_url=mirror.url) as http,
            http.stream("GET", "/v1/leaderboard/stream") as stream,
        ):
            async for line in stream.aiter_lines():
                if '"transcript"' in line:
                    break
            mirrored = (await http.get("/v1/leaderboard?proved=1")).json()["entries"]
        assert mirrored == [row]


async def test_a_hand_that_is_given_up_elsewhere_ends_here(tmp_path: Path) -> None:
    async with serving(environment(tmp_path)) as service, Client(service.url, player_key=PLAYER) as client:
        env = environment(tmp_path, PLAYER_KEY=PLAYER, SECRET_KEY="")
        process = await begin(env, "--server", service.url, "--name", "alice", "--level", "sharp")
        assert process.stdout is not None
        assert process.stdin is not None
        await process.stdout.readuntil(b"stops): ")
        there = await RemoteMatch.open(client, SecretKey.parse(PLAYER), "alice", "sharp")
        await there.resign()
        process.stdin.write(b"1\n")
        out, _ = await process.communicate()
    assert process.returncode == 0
    lines = out.decode().splitlines()
    assert "The match was given up. This is how the hand stands." in lines
    assert "The hand was given up: it counts as forfeited." in lines
    assert lines[-1] == "Replayed here from the seeds: every play is as it must be."


async def test_what_is_missing_is_named(tmp_path: Path) -> None:
    env = environment(tmp_path, SECRET_KEY="", PLAYER_KEY=PLAYER)
    for options, said in (
        (("--server", "http://127.0.0.1:1"), "--name"),
        (("--server", "http://127.0.0.1:1", "--name", "a b"), "the name contains U+0020"),
        (("--server", "ftp://x", "--name", "alice"), "address of the service"),
        (("--server", "http://127.0.0.1:1", "--name", "alice"), "no answer"),
        (("--server", "http://127.0.0.1:1", "--seed", "00" * 32), "leave out"),
        (("--name", "alice"), "goes with --server"),
    ):
        code, _, err = await play(env, "", *options)
        assert (code, said in err) == (2, True), err
    code, _, err = await play(
        env | {"BRISCOLA_PLAYER_KEY": ""}, "", "--server", "http://127.0.0.1:1", "--name", "a"
    )
    assert (code, "BRISCOLA_PLAYER_KEY" in err) == (2, True)
