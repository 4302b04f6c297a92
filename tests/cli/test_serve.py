"""`serve` as a process: what it refuses to start with, and how it ends."""

from __future__ import annotations

import asyncio
import os
import signal
import socket
import subprocess
import sys
import time
from pathlib import Path

import httpx
import pytest
from click.testing import CliRunner
from nostr_sdk import Keys

from app.cli import main
from app.cli.serve import open_port
from app.cli.unusable import Unusable
from tests.process import environment, run, serving
from tests.relays.events import publish, signed_event
from tests.relays.fake import FakeRelay, nothing
from tests.service import PUBKEY, make_key, rows
from tests.test_config import BAD_SECRETS


@pytest.mark.parametrize("secret", ["", *BAD_SECRETS], ids=lambda text: ascii(text[-12:]))
@pytest.mark.parametrize("in_file", [False, True])
def test_a_bad_secret_key_ends_it_without_a_word_of_the_key(
    tmp_path: Path, secret: str, in_file: bool
) -> None:
    file = tmp_path / "key"
    file.write_text(secret, "utf-8")
    given = {"SECRET_KEY": "", "SECRET_KEY_FILE": str(file)} if in_file else {"SECRET_KEY": secret}
    refused = CliRunner().invoke(main, ["serve", "--port", "0"], env=environment(tmp_path, **given))
    assert refused.exit_code == 2
    assert "BRISCOLA_SECRET_KEY" in refused.stderr
    assert len(secret) < 3 or secret not in refused.output
    assert "Traceback" not in refused.output
    assert not (tmp_path / "scores.db").exists()


async def test_a_bad_secret_key_in_a_process_of_its_own(tmp_path: Path) -> None:
    """The worst of them, which the library would pad or replace, with everything that a process prints."""
    secrets = {"": "is not set", "ab" * 31: "62 characters", "0" * 64: "zero"}
    envs = [environment(tmp_path, SECRET_KEY=secret, LOG_LEVEL="debug") for secret in secrets]
    all_ended = await asyncio.gather(*(run(env, "serve", "--port", "0") for env in envs))
    for ended, (secret, what) in zip(all_ended, secrets.items(), strict=True):
        assert ended.code == 2
        assert what in ended.stderr
        assert ended.stdout == ""
        assert not secret or secret not in ended.stderr


async def test_every_fault_of_the_settings_is_told_at_once(tmp_path: Path) -> None:
    env = environment(tmp_path, RELAYS="ftp://x", LOG_LEVEL="loud", SECRET_KEY="ab")
    ended = CliRunner().invoke(main, ["serve"], env=env)
    assert ended.exit_code == 2
    for name in ("BRISCOLA_RELAYS: ", "BRISCOLA_LOG_LEVEL: ", "BRISCOLA_SECRET_KEY: "):
        assert name in ended.stderr


async def test_a_port_in_use_is_told(tmp_path: Path) -> None:
    with socket.create_server(("127.0.0.1", 0)) as taken:
        port = taken.getsockname()[1]
        ended = await run(environment(tmp_path), "serve", "--port", str(port))
    assert ended.code == 2
    assert ended.stderr == f"Error: cannot listen on 127.0.0.1 port {port}: Address already in use\n"


@pytest.mark.parametrize("host", ["", "a..b", "x" * 70, "no.such.host.invalid", "256.0.0.1", "::g"])
def test_a_host_that_is_none_is_told(host: str) -> None:
    with pytest.raises(
        Unusable, match="--host is empty" if not host else f"cannot listen on {host} port 0: "
    ):
        open_port(host, 0)


async def test_a_database_that_cannot_be_opened_is_told(tmp_path: Path) -> None:
    ended = await run(environment(tmp_path, DATABASE_URL=f"sqlite:///{tmp_path}"), "serve", "--port", "0")
    assert ended.code == 2
    assert "unable to open database file" in ended.stderr
    assert "Traceback" not in ended.stderr


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGINT])
async def test_a_signal_ends_it_in_order(tmp_path: Path, number: signal.Signals) -> None:
    """In under five seconds, with a client that waits for a relay that never answers."""
    _, token = make_key(tmp_path / "scores.db")
    async with FakeRelay(on_event=nothing) as relay:
        env = environment(tmp_path, RELAYS=relay.url, LOG_FORMAT="json")
        async with serving(env) as serve, httpx.AsyncClient(base_url=serve.url) as http:
            await relay.until(lambda: relay.open_sockets == 1)
            headers = {"Authorization": f"Bearer {token}", "Prefer": "wait=30"}
            body = {"username": "alice", "score": 72}
            waiting = asyncio.create_task(http.post("/v1/scores", json=body, headers=headers))
            await relay.until(lambda: len(relay.events) == 1)
            began = time.monotonic()
            code = await serve.end(number)
            took = time.monotonic() - began
            answer = await waiting
        assert code == 0, serve.said
        assert took < 5
        assert answer.status_code == 201
        assert answer.json()["state"] == "pending"
        assert not any("Traceback" in line for line in serve.said), serve.said
    assert rows(tmp_path / "scores.db", "SELECT state, holder FROM delivery") == [("pending", None)]
    assert rows(tmp_path / "scores.db", "SELECT count(*) FROM process") == [(0,)]


async def test_over_the_wire(tmp_path: Path) -> None:
    """What only a real server shows: bytes that are no text, chunks, HEAD, the address it gives itself."""
    _, token = make_key(tmp_path / "scores.db")
    async with serving(environment(tmp_path)) as serve, httpx.AsyncClient(base_url=serve.url) as http:
        good = {"Authorization": f"Bearer {token}"}
        body = {"username": "alice", "score": 72}
        headers = [(b"Authorization", b"Bearer \xff\xfe"), (b"Content-Type", b"application/json")]
        refused = await http.post("/v1/scores", content=b"{}", headers=headers)
        assert refused.status_code == 401
        assert refused.headers["www-authenticate"].startswith("Bearer")
        assert refused.json()["type"] == f"{serve.url}/problems/unauthenticated"

        async def chunks():  # type: ignore[no-untyped-def]
            for _ in range(9):
                yield b" " * 512

        chunked = await http.post(
            "/v1/scores", content=chunks(), headers={**good, "Content-Type": "application/json"}
        )
        assert chunked.status_code == 413
        posted = await http.post("/v1/scores", json=body, headers=good)
        assert posted.status_code == 201
        assert "server" not in posted.headers
        head = await http.head(posted.headers["location"])
        assert (head.status_code, head.content) == (200, b"")
        assert int(head.headers["content-length"]) == len(
            (await http.get(posted.headers["location"])).content
        )
        assert (await http.get("/v1/protocol")).json()["pubkey"] == PUBKEY
        assert (await http.get("/readyz")).status_code == 200
        assert (await http.get("/v1/scores/%ff%00", headers={"Host": "["})).status_code in {400, 404}


async def test_a_mirror_needs_no_secret_and_no_database(tmp_path: Path, rust_relay: str) -> None:
    owner = Keys.generate()
    await publish(rust_relay, signed_event(owner, "anna", 72))
    keys = owner.public_key().to_bech32()
    env = environment(tmp_path, SECRET_KEY="", DATABASE_URL="", PUBLIC_KEYS=keys, RELAYS=rust_relay)
    async with serving(env, "--read-only") as serve, httpx.AsyncClient(base_url=serve.url) as http:
        board = (await http.get("/v1/leaderboard")).json()
        assert [(entry["username"], entry["score"]) for entry in board["entries"]] == [("anna", 72)]
        assert (await http.post("/v1/scores", json={})).status_code == 405
        async with http.stream("GET", "/v1/leaderboard/stream") as stream:
            lines = stream.aiter_lines()
            assert await anext(lines) == "event: board"
            began = time.monotonic()
            assert await serve.end(signal.SIGTERM) == 0
            assert time.monotonic() - began < 5
            assert [line async for line in lines][-1] == "", "the stream has ended whole"
    assert os.listdir(tmp_path) == []  # noqa: PTH208 - pathlib would have to be waited for here


@pytest.mark.parametrize(("keys", "what"), [("", "is not set: give the public keys"), ("npub1", "npub")])
async def test_a_mirror_of_nobody_is_told(tmp_path: Path, keys: str, what: str) -> None:
    ended = await run(environment(tmp_path, PUBLIC_KEYS=keys), "serve", "--read-only")
    assert ended.code == 2
    assert "BRISCOLA_PUBLIC_KEYS: " in ended.stderr
    assert what in ended.stderr


async def test_an_idle_mirror_warns_of_a_secret_and_takes_less_than_ninety_mebibytes(tmp_path: Path) -> None:
    async with serving(environment(tmp_path, PUBLIC_KEYS=PUBKEY), "--read-only") as serve:
        assert serve.resident_mebibytes() < 90
    assert any("BRISCOLA_SECRET_KEY: is not read by a mirror" in line for line in serve.said)


async def test_an_idle_service_takes_less_than_ninety_mebibytes(tmp_path: Path) -> None:
    async with serving(environment(tmp_path)) as serve:
        assert serve.resident_mebibytes() < 90


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
async def test_it_leaves_no_core_wherever_others_would(tmp_path: Path) -> None:
    import resource

    before = resource.getrlimit(resource.RLIMIT_CORE)
    resource.setrlimit(resource.RLIMIT_CORE, (before[1], before[1]))
    try:
        async with serving(environment(tmp_path)) as serve:
            limits = await asyncio.to_thread(Path(f"/proc/{serve.process.pid}/limits").read_text)
    finally:
        resource.setrlimit(resource.RLIMIT_CORE, before)
    (core,) = [line.split() for line in limits.splitlines() if line.startswith("Max core file size")]
    assert core[4] == "0"  # the soft limit, by which the system goes


def test_the_service_is_loaded_without_what_draws_on_terminals() -> None:
    program = "import sys, app.cli.serve; print('httpx' in sys.modules, 'pygments' in sys.modules)"
    ended = subprocess.run([sys.executable, "-c", program], check=True, capture_output=True, text=True)
    assert ended.stdout == "True False\n"
