"""What relays should hold, and sending them again what they do not."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

from sqlalchemy import bindparam, func, insert, select, update

from app.delivery.model import DeliveryState
from app.nostr import nip09
from app.scores.score_event import KIND
from app.store.cursor import cursor_of
from app.store.outbox import register_relays
from app.store.tables import delivery, event, relay

if TYPE_CHECKING:
    from collections.abc import Iterator, Sequence

    from sqlalchemy import Connection

_CHUNK = 500


class NewestEvent(NamedTuple):
    """The newest event of an address, a score or the deletion of one."""

    seq: int
    event_id: str
    d: str
    created_at: int


class Standing(NamedTuple):
    """How one delivery stands; `held` if a process has it in hand."""

    state: DeliveryState
    message: str
    held: bool


def newest_events(connection: Connection) -> list[NewestEvent]:
    """The newest event of every score's address: a score, or the deletion of one."""
    last = (
        select(event.c.d, func.max(event.c.created_at).label("at"))
        .where(event.c.kind.in_([KIND, nip09.KIND]))
        .group_by(event.c.d)
        .subquery()
    )
    rows = connection.execute(
        select(event.c.seq, event.c.id, event.c.d, event.c.created_at).join(
            last, (last.c.d == event.c.d) & (last.c.at == event.c.created_at)
        )
    )
    return [NewestEvent(*row) for row in rows]


def known_ids(connection: Connection, ids: Sequence[str]) -> set[str]:
    """Those of the ids under which an event is stored."""
    found: set[str] = set()
    for chunk in _chunks(ids):
        found.update(connection.execute(select(event.c.id).where(event.c.id.in_(chunk))).scalars())
    return found


def payloads(connection: Connection, seqs: Sequence[int]) -> dict[int, str]:
    """The JSON text of events, by their `seq`."""
    found: dict[int, str] = {}
    for chunk in _chunks(seqs):
        rows = connection.execute(select(event.c.seq, event.c.payload).where(event.c.seq.in_(chunk)))
        found.update((seq, payload) for seq, payload in rows)
    return found


def standings(connection: Connection, url: str, seqs: Sequence[int]) -> dict[int, Standing]:
    """How the deliveries of these events to a relay stand, where there are any, by the events' `seq`."""
    found: dict[int, Standing] = {}
    for chunk in _chunks(seqs):
        rows = connection.execute(
            select(delivery.c.event_seq, delivery.c.state, delivery.c.message, delivery.c.holder)
            .join(relay, relay.c.id == delivery.c.relay_id)
            .where(relay.c.url == url, delivery.c.event_seq.in_(chunk))
        )
        for seq, state, message, holder in rows:
            found[seq] = Standing(DeliveryState(state), message, holder is not None)
    return found


def send_again(connection: Connection, url: str, seqs: Sequence[int], now: float) -> None:
    """Have a relay sent these events from now on, whatever became of them before; it may be a new one.

    What a process has in hand is left to it.
    """
    relay_id = register_relays(connection, [url])[url]
    before = standings(connection, url, seqs)
    fresh = {
        "state": DeliveryState.PENDING.value,
        "message": "",
        "attempts": 0,
        "due": now,
        "holder": None,
        "failing_since": now,
    }
    this = (delivery.c.event_seq == bindparam("seq")) & (delivery.c.relay_id == relay_id)
    idle = (delivery.c.state != DeliveryState.PENDING) | delivery.c.holder.is_(None)
    if before:
        connection.execute(update(delivery).where(this, idle).values(fresh), [{"seq": seq} for seq in before])
    if added := [seq for seq in seqs if seq not in before]:
        rows = [{"event_seq": seq, "relay_id": relay_id, **fresh} for seq in added]
        connection.execute(insert(delivery), rows)
    cursor_of(connection).tell_waiting()


def _chunks(values: Sequence[int] | Sequence[str]) -> Iterator[Sequence[int] | Sequence[str]]:
    for start in range(0, len(values), _CHUNK):
        yield values[start : start + _CHUNK]
