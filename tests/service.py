"""The service in this process, on a database in a folder, with an HTTP client that holds an API key."""

from __future__ import annotations

import sqlite3
import time
from contextlib import asynccontextmanager, closing
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import httpx
import psycopg

from app import recovery
from app.config import Settings
from app.environment import load
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
# The relays of tests answer at once or never: a new store need not wait long for those that never do.
recovery.READ_SECONDS = 1.0


def address_of(database: Path | str) -> str:
    """The address of a database, which is a file or has one already."""
    return database if isinstance(database, str) else f"sqlite:///{database}"


def rows(database: Path | str, query: str, *values: object) -> list[tuple[Any, ...]]:
    """What a query finds in the database, read from outside the service; `?` stands for a value."""
    path = address_of(database)
    if path.startswith("postgresql:"):
        with psycopg.connect(path) as server:
            return server.execute(query.replace("?", "%s"), values).fetchall()
    path = path.removeprefix("sqlite:///")
    with closing(sqlite3.connect(path)) as connection:
        return connection.execute(query, values).fetchall()


def make_key(path: Path | str, name: str = "test", **more: Any) -> tuple[str, str]:
    """A new API key: its id and its text; `more` as for `add_key`."""
    database = Database(address_of(path))
    try:
        with database.writer.begin() as connection:
            key, text = add_key(connection, name, now=time.time(), **more)
    finally:
        database.close()
    return key.id, text


def revoke(path: Path | str, key_id: str) -> None:
    """Revoke a key as another process would."""
    database = Database(address_of(path))
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
    path: Path | str
    key_id: str
    token: str

    async def post(self, username: object, score: object, **headers: str) -> httpx.Response:
        """Post a score with the key of this client."""
        body = {"username": username, "score": score}
        return await self.http.post("/v1/scores", json=body, headers=headers)

    def count(self, table: str = "event") -> int:
        """How many rows a table has on disk."""
        return int(rows(self.path, f"SELECT count(*) FROM {table}")[0][0])


def settings(path: Path | str, relays: Iterable[str] = (NOWHERE,), **more: str) -> Settings:
    """Settings on a database file; `more` are settings by their names without the prefix."""
    environ = {"SECRET_KEY": SECRET, "RELAYS": ",".join(relays), "DATABASE_URL": address_of(path), **more}
    return load(Settings, {f"BRISCOLA_{name}": value for name, value in environ.items()})[0]


@asynccontextmanager
async def running(
    database: Path | str,
    *relays: str,
    clock: Callable[[], float] = time.time,
    monotonic: Callable[[], float] | None = None,
    board: LiveBoard | None = None,
    **more: str,
) -> AsyncIterator[Running]:
    """Open the service on a database, or on `scores.db` in a folder, perhaps with a board.

    `monotonic` is that clock, too, unless another is given; `more` is as for `settings`.
    """
    path = database if isinstance(database, str) else database / "scores.db"
    key_id, token = make_key(path)
    opened = settings(path, relays or (NOWHERE,), **more)
    async with open_service(opened, clock, monotonic=monotonic or clock) as service:
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
