"""Imports go one way: lower rooms never import upper ones, and the pure ones touch no IO."""

from __future__ import annotations

import ast
import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parent.parent
APP = ROOT / "app"
FILES = sorted(APP.rglob("*.py"))

# What each room may import of the others, besides itself. What stands in no room is the top: it may all.
ROOMS: dict[str, set[str]] = {
    "app.nostr": set(),
    "app.briscola": set(),
    "app.principal": set(),
    "app.child": set(),
    "app.scores": {"app.nostr"},
    # `verify_many` asks the pool above it, when it is called: loading the verifier loads no pool (see below).
    "app.verifier": {"app.nostr", "app.scores", "app.verify_pool"},
    "app.verify_pool": {"app.nostr", "app.verifier"},
    "app.audit": {"app.nostr", "app.scores", "app.verifier"},
    "app.matches": {"app.nostr", "app.briscola", "app.scores", "app.verifier"},
    "app.event_file": {"app.nostr"},
    "app.download": set(),
    "app.delivery": {"app.nostr", "app.scores", "app.verifier", "app.child", "app.download"},
    "app.auditor": {"app.audit", "app.delivery", "app.nostr", "app.scores", "app.verifier"},
    "app.client_auth": {"app.nostr"},
    "app.client_answers": {"app.nostr"},
    "app.client_errors": set(),
    "app.client": {"app.nostr", "app.client_auth", "app.client_answers", "app.client_errors"},
    "app.match_client": {"app.nostr", "app.briscola", "app.matches", "app.client", "app.client_auth"},
    "app.config_values": {"app.nostr"},
    "app.jwt_trust": set(),
    "app.secret_file": set(),
    "app.config": {"app.nostr", "app.scores", "app.config_values", "app.jwt_trust", "app.secret_file"},
    "app.environment": {"app.config", "app.secret_file"},
    "app.log": set(),
    "app.patient_clock": set(),
    "app.histogram": set(),
    "app.store": {
        "app.nostr", "app.briscola", "app.scores", "app.matches", "app.delivery", "app.principal",
        "app.histogram",
    },
    "app.recovery": {"app.nostr", "app.scores", "app.delivery", "app.store"},
    "app.publisher": {"app.nostr", "app.scores", "app.delivery", "app.store", "app.principal"},
    "app.thinking_main": {"app.briscola", "app.matches", "app.child"},
    "app.thinking": {"app.briscola", "app.matches", "app.child", "app.thinking_main"},
    "app.replay_main": {"app.matches", "app.child"},
    "app.match_host": {
        "app.nostr", "app.briscola", "app.scores", "app.matches", "app.delivery", "app.store",
        "app.publisher", "app.principal", "app.thinking",
    },
    "app.web": {
        "app.nostr", "app.scores", "app.verifier", "app.delivery", "app.config", "app.store", "app.publisher",
        "app.principal", "app.config_values", "app.jwt_trust", "app.histogram", "app.event_file",
        "app.briscola", "app.matches", "app.match_host", "app.thinking", "app.child", "app.download",
    },
}  # fmt: skip
TOP = {"app", "app.main", "app.mirror", "app.cli", "app.__main__"}

HEAVY = {"sqlalchemy", "starlette", "httpx", "uvicorn", "websockets", "alembic"}
PURE = ("app.nostr", "app.scores", "app.verifier", "app.briscola", "app.matches", "app.audit")
IO = {
    "asyncio", "concurrent", "http", "httpx", "logging", "multiprocessing", "pathlib", "select", "shutil",
    "signal", "socket", "sqlalchemy", "sqlite3", "ssl", "starlette", "subprocess", "tempfile", "threading",
    "urllib.request", "uvicorn", "websockets",
}  # fmt: skip


def module_of(file: Path) -> str:
    parts = file.relative_to(ROOT).with_suffix("").parts
    return ".".join(parts[:-1] if parts[-1] == "__init__" else parts)


def imports_of(file: Path) -> set[str]:
    """Every module that a file imports anywhere, also where only types are checked."""
    found: set[str] = set()
    for node in ast.walk(ast.parse(file.read_text("utf-8"))):
        if isinstance(node, ast.Import):
            found |= {alias.name for alias in node.names}
        elif isinstance(node, ast.ImportFrom):
            assert node.level == 0, f"{file}: imports are absolute"
            assert node.module is not None
            found |= {node.module} | {f"{node.module}.{alias.name}" for alias in node.names}
    return found


def within(module: str, room: str) -> bool:
    return module == room or module.startswith(f"{room}.")


def room_of(module: str) -> str | None:
    rooms = [room for room in (*ROOMS, *TOP - {"app"}) if within(module, room)]
    return rooms[0] if rooms else ("app" if module == "app" else None)


@pytest.mark.parametrize("file", FILES, ids=module_of)
def test_imports_go_one_way(file: Path) -> None:
    room = room_of(module_of(file))
    assert room is not None, "a new room: say above what it may import"
    if room in TOP:
        return
    used = {room_of(name) for name in imports_of(file) if within(name, "app")} - {None, "app"}
    assert used <= ROOMS[room] | {room}


@pytest.mark.parametrize("file", [f for f in FILES if room_of(module_of(f)) in PURE], ids=module_of)
def test_the_pure_rooms_touch_no_io(file: Path) -> None:
    used = {name for name in imports_of(file) if any(within(name, io) for io in IO)}
    assert used == set()
    nodes = list(ast.walk(ast.parse(file.read_text("utf-8"))))
    calls = {n.func.id for n in nodes if isinstance(n, ast.Call) and isinstance(n.func, ast.Name)}
    assert not calls & {"open", "print", "input"}
    of_os = {n.attr for n in nodes if isinstance(n, ast.Attribute) and ast.unparse(n.value) == "os"}
    assert of_os <= {"urandom"}, "a signature needs randomness, and nothing else of the system"


def test_one_file_alone_speaks_websockets_beside_that_of_their_frames() -> None:
    used = {module_of(file) for file in FILES if any(within(name, "websockets") for name in imports_of(file))}
    assert used == {"app.delivery.connection", "app.delivery.frames", "app.delivery.incoming"}


def test_one_room_alone_speaks_to_the_database() -> None:
    users = {
        module_of(f)
        for f in FILES
        if any(within(n, "sqlalchemy") or within(n, "sqlite3") for n in imports_of(f))
    }
    assert {room_of(module) for module in users} <= {"app.store", "app.main", "app.cli"}


@pytest.mark.parametrize(
    ("module", "unwanted"),
    [
        ("app.verifier", {*HEAVY, "pydantic", "asyncio", "app.verify_pool"}),
        ("app.cli.verify", {*HEAVY, "pydantic", "app.config"}),
        ("app.cli.replay", {*HEAVY, "pydantic", "app.config"}),
        ("app.cli.keygen", HEAVY),
    ],
)
def test_what_is_not_needed_is_not_loaded(module: str, unwanted: set[str]) -> None:
    program = f"import sys, {module}; print(*sys.modules)"
    loaded = set(subprocess.check_output([sys.executable, "-c", program], cwd=ROOT, text=True).split())
    assert module in loaded
    assert not loaded & unwanted
