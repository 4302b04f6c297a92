"""Reading scores back: an event with what became of it at each relay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import Select, select

from app.delivery.model import DeliveryState
from app.store.tables import delivery, event, relay

if TYPE_CHECKING:
    from sqlalchemy import Connection


@dataclass(frozen=True, slots=True)
class RelayState:
    """One event at one relay.

    Attributes:
        message: the relay's last words on it, bounded and on one line; empty if it said none.
        attempts: how often it was sent without a final answer.
    """

    url: str
    state: DeliveryState
    message: str = ""
    attempts: int = 0


@dataclass(frozen=True, slots=True)
class StoredScore:
    """A signed score as the store holds it; `payload` is the event's JSON text."""

    seq: int
    event_id: str
    pubkey: str
    username: str
    score: int
    payload: str
    relays: tuple[RelayState, ...]


_COLUMNS = (event.c.seq, event.c.id, event.c.pubkey, event.c.username, event.c.score, event.c.payload)


def find_score(connection: Connection, event_id: str) -> StoredScore | None:
    """The score event with this id."""
    return _read(connection, select(*_COLUMNS).where(event.c.id == event_id))


def latest_score(connection: Connection, d: str) -> StoredScore | None:
    """The newest score event of an address, named by its `d`."""
    return _read(
        connection, select(*_COLUMNS).where(event.c.d == d).order_by(event.c.created_at.desc()).limit(1)
    )


def _read(connection: Connection, query: Select[int, str, str, str, int, str]) -> StoredScore | None:
    row = connection.execute(query).first()
    if row is None:
        return None
    states = connection.execute(
        select(relay.c.url, delivery.c.state, delivery.c.message, delivery.c.attempts)
        .join(relay, relay.c.id == delivery.c.relay_id)
        .where(delivery.c.event_seq == row[0])
        .order_by(relay.c.id)
    )
    seq, identity, pubkey, username, score, payload = row
    return StoredScore(
        seq,
        identity,
        pubkey,
        username,
        score,
        payload,
        tuple(RelayState(url, DeliveryState(state), said, tried) for url, state, said, tried in states),
    )
