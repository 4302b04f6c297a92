"""A ledger on a database file, called without a service around it, and principals to call it with."""

from __future__ import annotations

import threading
from contextlib import contextmanager
from typing import TYPE_CHECKING

from app.nostr.keys import SecretKey
from app.principal import ADMIN, PUBLISH_ANY, Principal
from app.scores.score import Claim
from app.scores.score_event import sign_deletion, sign_score
from app.store import holders
from app.store.database import Database
from app.store.idempotency import Attempt
from app.store.journal import Journal
from app.store.ledger import Deletion, Ledger, Request
from app.store.outbox import register_relays
from tests.service import address_of

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator
    from pathlib import Path

RELAYS = ("ws://one.example", "ws://two.example")
SECRET = SecretKey.parse(f"{2:064x}")


def player(number: int) -> Principal:
    """Somebody signed in with a Nostr key."""
    return Principal(f"nostr:{number:064x}")


def game_server(key_id: str) -> Principal:
    """An API key that may publish every name."""
    return Principal(f"key:{key_id}", key_id, frozenset({PUBLISH_ANY}))


def admin(key_id: str) -> Principal:
    """An API key that may delete every score."""
    return Principal(f"key:{key_id}", key_id, frozenset({ADMIN}))


def request(
    principal: Principal | None, username: str, score: int = 72, key: str | None = None, body: bytes = b""
) -> Request:
    """A claim, under an Idempotency-Key if one is given."""
    attempt = Attempt.of(principal, key, body) if key is not None and principal is not None else None
    return Request(Claim(username, score), principal, frozenset(), attempt)


def deletion(principal: Principal, username: str) -> Deletion:
    """A deletion."""
    return Deletion(username, principal, frozenset())


def make_ledger(database: Database, clock: Callable[[], float], *, best: bool = False) -> Ledger:
    """A ledger as the service makes it."""
    with database.writer.begin() as connection:
        holder = holders.register(connection, clock())
        relays = register_relays(connection, RELAYS)
    return Ledger(
        sign=lambda c, at: sign_score(SECRET, username=c.username, score=c.score, created_at=at),
        sign_deletion=lambda d, at: sign_deletion(SECRET, d=d, created_at=at),
        journal=Journal(relays, holder),
        only_improvements=best,
        clock=clock,
    )


@contextmanager
def opened(path: Path | str) -> Iterator[Database]:
    """A database."""
    database = Database(address_of(path))
    try:
        yield database
    finally:
        database.close()


def at_once(count: int, act: Callable[[], None]) -> list[BaseException]:
    """Do something in so many threads at once; what went wrong in them."""
    failures: list[BaseException] = []

    def attempt() -> None:
        try:
            act()
        except BaseException as error:  # noqa: BLE001 - whatever a thread dies of
            failures.append(error)

    threads = [threading.Thread(target=attempt) for _ in range(count)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    return failures
