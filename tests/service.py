"""The service in this process, on a database in a folder, with an HTTP client that holds an API key."""

from __future__ import annotations

import sqlite3
import time
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx

from app.config import Settings, load
from app.main import Service, open_service
from app.store.api_keys import add_key, revoke_key
from app.store.database import Database

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable
    from pathlib import Path

    from app.web.live_board import LiveBoard

SECRET = f"{2:064x}"
# The x coordinate of twice the generator of secp256k1, from any table of its multiples.
PUBKEY = "c6047f9441ed7d6d3045406e95c07cd85c778e4b8cef3ca7abac09b95c709ee5"
NOWHERE = "ws://127.0.0.1:1"
PUBLISHED_BODY = b'{"username":"alice","score":72}'
PUBLIC_URL = "https://scores.example"


def rows(path: Path, query: str, *values: object) -> list[tuple[Any, ...]]:
    """What a query finds in the database file, read from outside the service."""
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query, values).fetchall()


def make_key(path: Path, name: str = "test", **more: Any) -> tuple[str, str]:
    """A new API key: its id and its text; `more` as for `add_key`."""
    database = Database(f"sqlite:///{path}")
    try:
        with database.writer.begin() as connection:
            key, text = add_key(connection, name, now=time.time(), **more)
    finally:
        database.close()
    return key.id, text


def revoke(path: Path, key_id: str) -> None:
    """Revoke a key as another process would."""
    database = Database(f"sqlite:///{path}")
    try:
        with database.writer.begin() as connection:
            revoke_key(connection, key_id, now=time.time())
    finally:
        database.close()


@dataclass
class Running:
    """An open service and a client of it."""

    service: Service
    http: httpx.AsyncClient
    path: Path
    key_id: str
    token: str

    async def post(self, username: object, score: object, **headers: str) -> httpx.Response:
        """Post a score with the key of this client."""
        body = {"username": username, "score": score}
        return await self.http.post("/v1/scores", json=body, headers=headers)

    def count(self, table: str = "event") -> int:
        """How many rows a table has on disk."""
        return int(rows(self.path, f"SELECT count(*) FROM {table}")[0][0])


def settings(path: Path, relays: Iterable[str] = (NOWHERE,), **more: str) -> Settings:
    """Settings on a database file; `more` are settings by their names without the prefix."""
    environ = {"SECRET_KEY": SECRET, "RELAYS": ",".join(relays), "DATABASE_URL": f"sqlite:///{path}", **more}
    return load(Settings, {f"BRISCOLA_{name}": value for name, value in environ.items()})[0]


@asynccontextmanager
async def running(
    folder: Path,
    *relays: str,
    clock: Callable[[], float] = time.time,
    board: LiveBoard | None = None,
    **more: str,
) -> AsyncIterator[Running]:
    """Open the service on `scores.db` in the folder, perhaps with a board; `more` as for `settings`."""
    path = folder / "scores.db"
    key_id, token = make_key(path)
    async with open_service(settings(path, relays or (NOWHERE,), **more), clock) as service:
        transport = httpx.ASGITransport(service.app(PUBLIC_URL, board), raise_app_exceptions=False)
        headers = {"Authorization": f"Bearer {token}"}
        async with httpx.AsyncClient(transport=transport, base_url=PUBLIC_URL, headers=headers) as http:
            yield Running(service, http, path, key_id, token)


def assert_problem(response: httpx.Response, status: int, slug: str) -> dict[str, Any]:
    """Check that an answer is the problem document of this kind, and return it."""
    assert response.status_code == status, response.text
    assert response.headers["content-type"] == "application/problem+json"
    document: dict[str, Any] = response.json()
    assert document["type"] == f"{PUBLIC_URL}/problems/{slug}"
    assert document["status"] == status
    assert document["title"]
    assert document["detail"]
    return document
