"""Reading scores and their deletions back: an event with what became of it at each relay."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import ColumnElement, func, literal_column, select

from app.delivery.model import DeliveryState
from app.nostr import nip09
from app.nostr.relay_url import public_relay_url
from app.scores.score_event import KIND
from app.store.backlog import said_of
from app.store.matches import Proof, find_proof
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

    def shown(self) -> dict[str, object]:
        """What anybody may see of it."""
        return {
            "url": public_relay_url(self.url),
            "state": self.state,
            "message": self.message,
            "attempts": self.attempts,
        }


@dataclass(frozen=True, slots=True)
class StoredScore:
    """A signed score as the store holds it, or the deletion of one.

    Attributes:
        payload: the event's JSON text.
        deleted_at: `created_at` of the deletion that covers the score, unix seconds; None while it stands.
        proof: the match that it was played in; None for a score that is claimed.
    """

    seq: int
    event_id: str
    pubkey: str
    username: str
    score: int
    payload: str
    relays: tuple[RelayState, ...]
    deleted_at: int | None
    proof: Proof | None = None


_deletion = event.alias()
# The first deletion after a score: a deletion covers every version up to its own created_at.
_deleted_at = (
    select(func.min(_deletion.c.created_at))
    .where(
        _deletion.c.d == event.c.d,
        _deletion.c.created_at > event.c.created_at,
        _deletion.c.kind == literal_column(str(nip09.KIND)),
        event.c.kind == KIND,
    )
    .scalar_subquery()
)
_QUERY = select(
    event.c.seq,
    event.c.id,
    event.c.pubkey,
    event.c.username,
    event.c.score,
    event.c.payload,
    event.c.level,
    _deleted_at.label("deleted_at"),
)


def find_score(connection: Connection, event_id: str) -> StoredScore | None:
    """The score event with this id, or the deletion with this id."""
    return _read(connection, (event.c.id == event_id) & event.c.kind.in_([KIND, nip09.KIND]))


def latest_score(connection: Connection, d: str) -> StoredScore | None:
    """The newest score event of an address, named by its `d`, whether it stands or is deleted."""
    return _read(connection, (event.c.d == d) & (event.c.kind == KIND))


def _read(connection: Connection, where: ColumnElement[bool]) -> StoredScore | None:
    row = connection.execute(_QUERY.where(where).order_by(event.c.created_at.desc()).limit(1)).first()
    if row is None:
        return None
    states = connection.execute(
        select(relay.c.url, delivery.c.state, delivery.c.message, delivery.c.attempts, relay.c.retired)
        .join(relay, relay.c.id == delivery.c.relay_id)
        .where(delivery.c.event_seq == row[0])
        .order_by(relay.c.id)
    )
    seq, identity, pubkey, username, score, payload, level, deleted_at = row
    return StoredScore(
        seq,
        identity,
        pubkey,
        username,
        score,
        payload,
        tuple(
            RelayState(url, state := DeliveryState(text), said_of(state, said, retired=retired), tried)
            for url, text, said, tried, retired in states
        ),
        deleted_at,
        None if level is None else find_proof(connection, seq),
    )
