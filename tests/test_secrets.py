"""No secret shows: calls of many kinds fail, and then everything that anybody could read is searched."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

import httpx
import pytest
from click.testing import CliRunner

import app.environment
from app.cli import main
from app.config import Settings
from app.environment import InvalidSettings
from app.main import open_service
from app.nostr.keys import SecretKey
from tests.known_secrets import (
    BODY,
    JWT,
    NOSTR,
    NSEC,
    NUMBER,
    OF_SECRET,
    REDIS_PASSWORD,
    RELAY_TOKEN,
    SECRET,
    WRONG_KEY,
    bearer,
    everything_logged,
    shown_in,
    with_variables,
)
from tests.service import make_key, settings
from tests.web.live import live

if TYPE_CHECKING:
    from app.main import Service

# Method, path, headers, body: KEY in a header stands for a good key.
GOOD = {"Authorization": "Bearer KEY"}
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
