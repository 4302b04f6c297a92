"""The parts of the store on one database, with a clock that is set by hand and events that cost nothing."""

from __future__ import annotations

import hashlib
import json
from typing import TYPE_CHECKING

from app.nostr.event import Event
from app.nostr.keys import SecretKey
from app.principal import PUBLISH_ANY, Principal
from app.scores.score import Claim
from app.scores.score_event import sign_deletion
from app.store import holders
from app.store.database import Database
from app.store.journal import Journal
from app.store.ledger import Ledger, Request
from app.store.outbox import StoreOutbox, register_relays
from app.store.store import Store
from tests.service import address_of, rows

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence
    from pathlib import Path

    from app.store.ledger import Answer

RELAYS = ("wss://one.example", "wss://two.example")
PUBKEY = "ab" * 32
SECRET = SecretKey.parse(f"{2:064x}")


def unsigned(claim: Claim, created_at: int) -> Event:
    """An event that looks signed: its id tells the name, the score and the second."""
    identity = hashlib.sha256(f"{claim.username}:{claim.score}:{created_at}".encode()).hexdigest()
    tags = (("d", claim.username.lower()),)
    return Event(identity, PUBKEY, created_at, 31250, tags, json.dumps({"score": claim.score}), "cd" * 64)


class Bench:
    """One process on a database file; several may share the file."""

    def __init__(self, path: Path | str, *, now: float = 1000.0, best: bool = False) -> None:
        self.path, self.now = path, now
        self.database = Database(address_of(path))
        with self.database.writer.begin() as connection:
            self.holder = holders.register(connection, now)
            self.relays = register_relays(connection, RELAYS)
        self.ledger = Ledger(
            sign=unsigned,
            sign_deletion=lambda d, created_at: sign_deletion(SECRET, d=d, created_at=created_at),
            journal=Journal(self.relays, self.holder),
            only_improvements=best,
            clock=lambda: self.now,
        )

    def outbox(self) -> StoreOutbox:
        """The outbox; closing the store closes the database."""
        self.store = Store(self.database)
        return StoreOutbox(self.store, holder=self.holder, relays=self.relays, clock=lambda: self.now)

    def append(
        self, *claims: tuple[str, int], hold: Iterable[str] = (), key_id: str | None = None
    ) -> Sequence[Answer]:
        """Sign claims in one transaction."""
        principal = key_id and Principal(f"key:{key_id}", key_id, frozenset({PUBLISH_ANY}))
        requests = [Request(Claim(name, score), principal or None, frozenset(hold)) for name, score in claims]
        with self.database.writer.begin() as connection:
            return self.ledger.append(connection, requests)

    def states(self) -> list[tuple[str, int, str, str]]:
        """Every delivery: name, score, relay, state."""
        return rows(
            self.path,
            """SELECT username, score, url, state FROM delivery JOIN event ON seq = event_seq
               JOIN relay ON relay.id = relay_id ORDER BY seq, relay.id""",
        )
