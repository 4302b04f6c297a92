"""No secret shows: calls of many kinds fail, and then everything that anybody could read is searched."""

from __future__ import annotations

import asyncio
import base64
import copy
import json
import logging
import os
import pickle
import signal
import sys
import traceback
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from click.testing import CliRunner

import app.environment
from app.cli import main
from app.config import Settings
from app.environment import InvalidSettings
from app.main import open_service
from app.nostr import nip19
from app.nostr.keys import SecretKey
from tests.process import environment, run, serving
from tests.relays.fake import FakeRelay, respond, text, upgrade
from tests.service import NOWHERE, PUBKEY, PUBLIC_URL, make_key, settings
from tests.web.live import live

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

    from websockets.http11 import Request

    from app.main import Service
    from tests.relays.fake import Peer

ROOT = Path(__file__).parent.parent
# A key of no meaning, but the same in every run, so that a failure can be looked into.
NUMBER = 0xC0FFEE5EC12E7_9E3779B97F4A7C15F39CC0605CEDC834_1082276BF3A27251
SECRET = NUMBER.to_bytes(32)
NSEC = nip19.encode("nsec", SECRET)
WRONG_KEY = "bsk_0123456789abcdef_wr0ngKeyThatSomebodySent"
JWT = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJlT2ZBSnd0"
NOSTR = base64.b64encode(json.dumps({"id": "0" * 64, "sig": "5" * 128}).encode()).decode()
REDIS_PASSWORD = "r3disPassw0rd"
RELAY_TOKEN = "t0kenThatTheRelayWants"
OF_SECRET = [
    SECRET.hex(),
    NSEC,
    str(NUMBER),
    repr(SECRET)[2:-1],
    base64.b64encode(SECRET).decode(),
    hex(NUMBER),
]


def shown_in(text: str, needles: list[str]) -> list[str]:
    """Which secrets a text shows, in any spelling of their letters."""
    return [needle for needle in needles if needle.lower() in text.lower()]


class Kept(logging.Handler):
    """Every log record at any level, as text; exceptions also with the variables of their frames."""

    def __init__(self) -> None:
        super().__init__(logging.NOTSET)
        self.lines: list[str] = []
        self.variables: list[str] = []
        self.setFormatter(logging.Formatter("%(levelname)s %(name)s %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))
        if record.exc_info and record.exc_info[1]:
            self.variables.append(with_variables(record.exc_info[1]))


def with_variables(error: BaseException) -> str:
    return "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())


@contextmanager
def everything_logged() -> Iterator[Kept]:
    kept, root = Kept(), logging.getLogger()
    names = [
        "",
        "app",
        "uvicorn",
        "uvicorn.error",
        "httpx",
        "httpcore",
        "websockets",
        "sqlalchemy",
        "alembic",
    ]
    before = {name: logging.getLogger(name).level for name in names}
    handlers = root.handlers[:]
    root.addHandler(kept)
    for name in names:
        logging.getLogger(name).setLevel(logging.DEBUG)
    try:
        yield kept
    finally:
        root.handlers[:] = handlers
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)


def bearer(text: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {text}"}


# Method, path, headers, body: KEY in a header stands for a good key.
GOOD = {"Authorization": "Bearer KEY"}
BODY = b'{"username":"alice","score":60}'
JSON = {"Content-Type": "application/json"}
HTTP_CALLS: list[tuple[int, str, str, dict[str, str], bytes]] = [
    (401, "POST", "/v1/scores", {}, BODY),
    (401, "POST", "/v1/scores", bearer(WRONG_KEY), BODY),
    (401, "POST", "/v1/scores", {"Authorization": WRONG_KEY}, BODY),
    (401, "POST", "/v1/scores", {"Authorization": f"Basic {WRONG_KEY}"}, BODY),
    (401, "POST", "/v1/scores", {"Authorization": "Bearer"}, BODY),
    (401, "POST", "/v1/scores", bearer("KEY-and-more"), BODY),
    (401, "POST", "/v1/scores", bearer(JWT), BODY),
    (401, "POST", "/v1/scores", {"Authorization": f"Nostr {NOSTR}"}, BODY),
    (401, "POST", "/v1/scores", bearer(NSEC), BODY),
    (401, "POST", "/v1/scores", bearer(SECRET.hex()), BODY),
    (400, "POST", "/v1/scores", GOOD, b"{"),
    (400, "POST", "/v1/scores", GOOD, b'{"username":"a","username":"b","score":1}'),
    (400, "POST", "/v1/scores", GOOD, b"\xff\xfe"),
    (413, "POST", "/v1/scores", GOOD, BODY + b" " * 9000),
    (415, "POST", "/v1/scores", {**GOOD, "Content-Type": "text/html"}, BODY),
    (422, "POST", "/v1/scores", GOOD, b'{"username":"alice","score":600}'),
    (422, "POST", "/v1/scores", GOOD, b'{"username":"' + NSEC.encode() + b'","score":60}'),
    (422, "POST", "/v1/scores", GOOD, b'{"username":"alice","score":60,"key":"' + NSEC.encode() + b'"}'),
    (422, "POST", "/v1/scores", GOOD, b'{"username":"alice","score":"' + NSEC.encode() + b'"}'),
    (405, "PUT", "/v1/scores", GOOD, BODY),
    (404, "GET", "/v1/scores/0", GOOD, b""),
    (404, "GET", "/v1/players/nobody", GOOD, b""),
    (404, "GET", "/problems/none", GOOD, b""),
    (
        403,
        "OPTIONS",
        "/v1/scores",
        {"Origin": "https://x.example", "Access-Control-Request-Method": "POST"},
        b"",
    ),
    (431, "GET", "/readyz", {**GOOD, "X-Large": "x" * 20_000}, b""),
    (414, "GET", f"/{'x' * 5000}", GOOD, b""),
    (500, "POST", "/v1/scores", GOOD, b'{"username":"fail","score":60}'),
]


async def test_http_calls_that_fail_show_nothing(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    _, token = make_key(tmp_path / "scores.db")
    sign = SecretKey.sign

    def failing_sign(self: SecretKey, digest: bytes) -> bytes:
        if failing:
            raise RuntimeError("the signer is broken")
        return sign(self, digest)

    failing = False
    monkeypatch.setattr(SecretKey, "sign", failing_sign)
    away = f"redis://:{REDIS_PASSWORD}@127.0.0.1:1"
    opened = settings(
        tmp_path / "scores.db", SECRET_KEY=NSEC, RATE_LIMIT_STORAGE=away, RATE_LIMIT="500/minute"
    )
    answers: list[str] = []
    statuses = []
    with everything_logged() as kept:
        async with open_service(opened) as service, live(service.app) as server:
            async with httpx.AsyncClient(base_url=server.url, trust_env=False) as client:
                for _, method, path, headers, body in HTTP_CALLS:
                    failing = b'"fail"' in body
                    fields = {"Content-Type": "application/json", **headers}
                    fields = {name: value.replace("KEY", token) for name, value in fields.items()}
                    answer = await client.request(method, path, content=body, headers=fields)
                    statuses.append(answer.status_code)
                    answers.append(f"{answer.headers} {answer.text}")
                good = ("/readyz", "/healthz", "/v1/protocol", "/openapi.json")
                answers += [(await client.get(path)).text for path in good]
            answers.append((await server.exchange(f"Bearer {token}\r\n\r\n".encode())).decode())
            answers += [
                shown for thing in parts_of(service) for shown in (repr(thing), str(thing), f"{thing}")
            ]
    assert statuses == [status for status, *_ in HTTP_CALLS]
    tokens = [token, token.split("_", 2)[2], WRONG_KEY, JWT, NOSTR, REDIS_PASSWORD]
    # It is seen that something was logged, and that the frame which holds the key is in it.
    assert any("Redis does not answer" in line for line in kept.lines)
    assert any("the signer is broken" in line for line in kept.lines)
    assert any(f"SecretKey(pubkey={opened.pubkey!r})" in text for text in kept.variables)
    assert shown_in("\n".join(kept.lines), OF_SECRET + tokens) == []
    assert shown_in("\n".join(kept.variables), [*OF_SECRET, REDIS_PASSWORD]) == []
    assert shown_in("\n".join(answers), OF_SECRET + tokens) == []


def parts_of(service: Service) -> list[object]:
    """Everything that the service is made of, as deep as objects of ours go."""
    parts: list[object] = []
    queue: list[object] = [service]
    while queue:
        part = queue.pop()
        if any(part is seen for seen in parts):
            continue
        parts.append(part)
        names = {*getattr(part, "__dict__", ()), *getattr(type(part), "__slots__", ())}
        values = [getattr(part, name, None) for name in names if not name.startswith("__")]
        queue += [
            value for value in values if type(value).__module__.partition(".")[0] in {"app", "functools"}
        ]
    return parts


TYPO = NSEC[:-1] + ("q" if NSEC[-1] != "q" else "p")
GOOD_ENV = {"SECRET_KEY": NSEC}
CLI_CALLS: list[tuple[list[str], dict[str, str]]] = [
    (["serve"], {}),
    (["serve"], {"SECRET_KEY": TYPO}),
    (["serve"], {"SECRET_KEY": SECRET.hex()[:-1]}),
    (["serve"], {"SECRET_KEY": SECRET.hex() + "0"}),
    (["serve"], {"SECRET_KEY": str(NUMBER)}),
    (["serve"], {"SECRET_KEY": f"'{NSEC}'"}),
    (["serve"], {**GOOD_ENV, "SECRET_KEY_FILE": "key"}),
    (["serve"], {"SECRET_KEY_FILE": "missing"}),
    (["serve"], {"SECRET_KEY_FILE": "typo"}),
    (["serve"], {"SECRET_KEY_FILE": "empty"}),
    (["serve"], {"SECRET_KEY_FILE": "binary"}),
    (["serve"], {"SECRET_KEY_FILE": "key", "RELAYS": "gopher://x"}),
    (["serve"], {**GOOD_ENV, "RELAYS": f"ws://u:{REDIS_PASSWORD}@ x"}),
    (["serve"], {**GOOD_ENV, "RATE_LIMIT_STORAGE": f"http://:{REDIS_PASSWORD}@x"}),
    (["serve"], {**GOOD_ENV, "RATE_LIMIT": "often"}),
    (["serve"], {**GOOD_ENV, "PUBLIC_URL": f"https://u:{REDIS_PASSWORD}@x"}),
    (["serve"], {**GOOD_ENV, "PUBLIC_KEYS": NSEC}),
    (["serve"], {**GOOD_ENV, "DATABASE_URL": "sqlite:////no/such/folder/x.db"}),
    (["serve"], {**GOOD_ENV, "DATABASE_URL": f"mysql://u:{REDIS_PASSWORD}@x/y"}),
    (["serve", "--host", "192.0.2.1"], GOOD_ENV),
    (["publish", "alice", "600"], GOOD_ENV),
    (["publish", "no one", "60"], GOOD_ENV),
    (["publish", "alice", "60"], {"SECRET_KEY": TYPO}),
    (["publish", "alice"], GOOD_ENV),
    (["key", "revoke", "0123"], GOOD_ENV),
    (["key", "add", ""], GOOD_ENV),
    (["verify", "--pubkey", NSEC, "/dev/null"], GOOD_ENV),
    (["nothing"], GOOD_ENV),
    (["serve"], {**GOOD_ENV, "RELAYS": f"ftp://x?{RELAY_TOKEN}"}),
    (["outbox", "list", "--relay", f"ftp://x?{RELAY_TOKEN}"], GOOD_ENV),
    (["outbox", "list", "--relay", f"ws://x?{RELAY_TOKEN}"], GOOD_ENV),
    (["audit", f"ftp://x?{RELAY_TOKEN}"], GOOD_ENV),
    (["leaderboard", "--relay", f"ftp://x?{RELAY_TOKEN}", "--pubkey", "2" * 64], GOOD_ENV),
]


@pytest.mark.parametrize(("arguments", "environ"), CLI_CALLS)
def test_commands_that_fail_show_nothing(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, arguments: list[str], environ: dict[str, str]
) -> None:
    monkeypatch.chdir(tmp_path)
    for name, content in {
        "key": NSEC.encode(),
        "typo": TYPO.encode(),
        "empty": b"",
        "binary": SECRET,
    }.items():
        Path(name).write_bytes(content)
        Path(name).chmod(0o600)
    given = {f"BRISCOLA_{name}": value for name, value in environ.items()}
    with everything_logged() as kept:
        result = CliRunner().invoke(main, arguments, env={"BRISCOLA_LOG_LEVEL": "debug", **given})
    assert result.exit_code == 2, result.output
    assert result.output
    needles = [*OF_SECRET, TYPO, SECRET.hex()[:-1], REDIS_PASSWORD, RELAY_TOKEN]
    assert shown_in(result.output + "\n".join(kept.lines), needles) == []


def test_there_are_forty_kinds() -> None:
    assert len(HTTP_CALLS) + len(CLI_CALLS) >= 40


def test_settings_that_fail_hold_no_secret_in_their_frames(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("BRISCOLA_SECRET_KEY", NSEC)
    monkeypatch.setenv("BRISCOLA_RELAYS", "gopher://x")
    with pytest.raises(InvalidSettings) as refused:
        app.environment.load(Settings)
    assert shown_in(with_variables(refused.value), OF_SECRET) == []


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


PAGES = ("/", "/play", "/protocol")
DOCUMENTS = ("/v1/protocol", "/.well-known/nostr.json", "/v1/leaderboard", "/readyz", "/healthz", "/metrics")


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
