"""No secret shows: settings are printed, a service runs, and what anybody could read of them is searched."""

from __future__ import annotations

import asyncio
import copy
import json
import os
import pickle
import signal
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from tests.known_secrets import (
    BODY,
    JSON,
    NSEC,
    OF_SECRET,
    REDIS_PASSWORD,
    RELAY_TOKEN,
    SECRET,
    WRONG_KEY,
    bearer,
    shown_in,
)
from tests.process import environment, run, serving
from tests.relays.fake import FakeRelay, respond, text, upgrade
from tests.service import NOWHERE, PUBKEY, PUBLIC_URL, make_key, settings

if TYPE_CHECKING:
    from collections.abc import Callable

    from websockets.http11 import Request

    from tests.relays.fake import Peer

ROOT = Path(__file__).parent.parent
PAGES = ("/", "/play", "/protocol")
DOCUMENTS = ("/v1/protocol", "/.well-known/nostr.json", "/v1/leaderboard", "/readyz", "/healthz", "/metrics")


@pytest.mark.parametrize(
    "show",
    [
        repr,
        str,
        ascii,
        "{}".format,
        "{!r}".format,
        "%s".__mod__,
        lambda thing: repr(copy.deepcopy(thing)),
        lambda thing: repr([thing, {"key": thing}]),
        lambda thing: repr(getattr(thing, "__dict__", "")),
    ],
)
def test_no_way_to_print_shows_a_secret(tmp_path: Path, show: Callable[[object], str]) -> None:
    opened = settings(tmp_path / "x.db", SECRET_KEY=NSEC, RATE_LIMIT_STORAGE=f"redis://:{REDIS_PASSWORD}@x")
    assert shown_in(show(opened.secret_key), OF_SECRET) == []
    assert shown_in(show(opened).replace(repr(vars(opened)), ""), OF_SECRET) == []


def test_no_way_to_dump_shows_a_secret(tmp_path: Path) -> None:
    relays = [f"{NOWHERE}?{RELAY_TOKEN}"]
    redis = f"redis://:{REDIS_PASSWORD}@x"
    opened = settings(tmp_path / "x.db", relays, SECRET_KEY=NSEC, RATE_LIMIT_STORAGE=redis)
    dumped: list[Any] = [
        opened.model_dump(),
        opened.model_dump(mode="json"),
        opened.model_dump_json(),
        repr(opened),
    ]
    assert shown_in(repr(dumped), [*OF_SECRET, REDIS_PASSWORD, RELAY_TOKEN]) == []
    with pytest.raises(TypeError, match="a secret key is not pickled"):
        pickle.dumps(opened.secret_key)


def seen_from_outside(pid: int) -> bytes:
    """What any user of the machine can learn of a process, where there is a /proc."""
    proc = Path(f"/proc/{pid}")
    names = ("cmdline", "comm", "status", "stat") if proc.is_dir() else ()
    return b"".join((proc / name).read_bytes() for name in names)


def written_below(folder: Path) -> bytes:
    files = [path for path in folder.rglob("*") if path.is_file()]
    assert files
    return b"".join(path.read_bytes() for path in files)


async def test_a_running_service_shows_nothing_to_its_neighbours(tmp_path: Path) -> None:
    environ = {
        "SECRET_KEY": NSEC,
        "RELAYS": "ws://127.0.0.1:1",
        "DATABASE_URL": f"sqlite:///{tmp_path / 'x.db'}",
        "LOG_LEVEL": "debug",
        "LOG_FORMAT": "json",
    }
    _, token = make_key(tmp_path / "x.db")
    process = await asyncio.create_subprocess_exec(
        *(sys.executable, "-m", "app", "serve", "--port", "0"),
        cwd=ROOT,
        env=os.environ | {f"BRISCOLA_{name}": value for name, value in environ.items()},
        stderr=asyncio.subprocess.PIPE,
    )
    assert process.stderr is not None
    said = b""
    while b"Listening on " not in said:
        line = await process.stderr.readline()
        assert line, said.decode()
        said += line
    url = said.decode().rpartition("Listening on ")[2].strip()
    said += seen_from_outside(process.pid)
    async with httpx.AsyncClient(base_url=url, trust_env=False) as client:
        for headers in (bearer(token), bearer(WRONG_KEY), {}):
            answer = await client.post("/v1/scores", content=b"{", headers=headers)
            said += answer.content
    process.send_signal(signal.SIGTERM)
    said += await process.stderr.read()
    assert await process.wait() == 0
    said += written_below(tmp_path)
    assert SECRET not in said
    assert shown_in(said.decode("latin-1"), [*OF_SECRET, token, token.split("_", 2)[2], WRONG_KEY]) == []


async def test_the_query_of_a_relay_shows_nowhere(tmp_path: Path) -> None:
    """It may hold a token: the relay gets it, and nobody else."""
    asked: list[str] = []

    def on_handshake(peer: Peer, request: Request) -> None:
        asked.append(request.path)
        if request.headers.get("Upgrade"):
            upgrade(peer, request)
        else:
            respond(404)(peer, request)

    async with FakeRelay(on_event=text(rejected), on_handshake=on_handshake) as relay:
        urls = (f"{relay.url}/inbox?{RELAY_TOKEN}", f"{NOWHERE}?{RELAY_TOKEN}")
        shown = f"{relay.url}/inbox"
        env = environment(
            tmp_path, RELAYS=",".join(urls), PUBLIC_URL=PUBLIC_URL, LOG_LEVEL="debug", LOG_FORMAT="json"
        )
        _, token = make_key(tmp_path / "scores.db")
        said: dict[str, str] = {}
        async with serving(env) as service:
            async with httpx.AsyncClient(base_url=service.url, trust_env=False) as client:
                posted = await client.post(
                    "/v1/scores", content=BODY, headers=bearer(token) | {"Prefer": "wait=1", **JSON}
                )
                said["post"] = posted.text
                for path in (*PAGES, *DOCUMENTS, posted.headers["location"].removeprefix(PUBLIC_URL)):
                    answer = await client.get(path)
                    said[path] = f"{answer.headers} {answer.text}"
                async with client.stream("GET", "/v1/leaderboard/stream") as stream:
                    said["stream"] = await anext(stream.aiter_text())
            commands = (
                ["outbox", "list"],
                ["outbox", "list", "--json", "--relay", shown],
                ["outbox", "retry", "--relay", "ws://elsewhere"],
                ["publish", "bob", "61", "--wait", "1"],
                ["publish", "bob", "62", "--wait", "1", "--json"],
                ["audit", shown],
                ["audit", "--json"],
                ["leaderboard", "--wait", "1", "--pubkey", PUBKEY, "--relay", urls[0], "--relay", urls[1]],
                ["leaderboard", "--wait", "1", "--json"],
            )
            for command, ended in zip(
                commands, await asyncio.gather(*(run(env, *each) for each in commands)), strict=True
            ):
                said[" ".join(command)] = ended.stdout + ended.stderr
            await service.end(signal.SIGTERM)
        said["log"] = "".join(service.said)
    assert posted.json()["event"]["id"] in said[f"outbox list --json --relay {shown}"]
    # The relay was asked for its document, delivered to, read, and audited, each time with the token.
    assert len(asked) >= 5
    assert {path for path in asked if path != f"/inbox?{RELAY_TOKEN}"} == set()
    unseen = {door for door, what in said.items() if relay.url not in what and NOWHERE not in what}
    assert unseen <= {"/play", "/healthz"}, "a door that shows no relay proves nothing"
    assert {door: what for door, what in said.items() if RELAY_TOKEN in what} == {}


def rejected(event_id: str) -> str:
    return json.dumps(["OK", event_id, False, "blocked: no scores here"])
