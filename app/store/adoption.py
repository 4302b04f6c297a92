"""Taking over events of the app's own keys that relays hold and this store did not know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from sqlalchemy import insert, select, update

from app.delivery.model import DeliveryState
from app.nostr import nip09
from app.scores.published import read_published
from app.scores.score_event import KIND
from app.store.cursor import cursor_of
from app.store.journal import ask_last
from app.store.names import lock_names
from app.store.tables import delivery, event

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from app.nostr.event import Event

# Readers ignore what is further ahead of the clock, and its address could not be signed for until then.
AHEAD_LIMIT = 900
_READ_BACK = "read back: the relay holds it"


@dataclass(frozen=True, slots=True)
class Found:
    """A verified event of one of the app's keys, and the relay (its row's id) that holds it."""

    event: Event
    relay_id: int


@dataclass(frozen=True, slots=True)
class Subject:
    """The score that an event is, or deletes: its `d`, the name as spelled, and the points."""

    d: str
    username: str
    score: int


def adopt(connection: Connection, found: Sequence[Found], now: float) -> list[bool]:
    """Store events that relays hold, each as delivered there, so that their addresses go on from them.

    Nothing is signed here, so a clock that is behind is no reason not to.

    Returns:
        Whether each was taken: False if it is no score or deletion, or too far ahead of the clock.
    """
    cursor = cursor_of(connection)
    subjects = [subject_of(one.event) for one in found]
    cursor.lock(lock_names({subject.d for subject in subjects if subject}))
    asked, ask_seqs = ask_last(cursor), cursor.ask_seqs(len(found))
    last, high_water = asked()
    seqs = iter(ask_seqs(last))
    answers = []
    for one, subject in zip(found, subjects, strict=True):
        if subject is None or one.event.created_at > now + AHEAD_LIMIT:
            answers.append(False)
            continue
        row = connection.execute(
            select(event.c.seq, event.c.id).where(
                (event.c.id == one.event.id)
                | ((event.c.d == subject.d) & (event.c.created_at == one.event.created_at))
            )
        ).first()
        if row is None:
            seq = next(seqs)
            connection.execute(
                insert(event).values(
                    seq=seq,
                    id=one.event.id,
                    d=subject.d,
                    created_at=one.event.created_at,
                    pubkey=one.event.pubkey,
                    username=subject.username,
                    score=subject.score,
                    payload=one.event.to_json(),
                    signed_at=max(now, high_water),
                    kind=one.event.kind,
                )
            )
            _note_delivered(connection, seq, one.relay_id)
        elif row.id == one.event.id:
            _note_delivered(connection, row.seq, one.relay_id)
        # Else the store has its own event of that second: it is no newer than what is known.
        answers.append(True)
    return answers


def _note_delivered(connection: Connection, seq: int, relay_id: int) -> None:
    row = (delivery.c.event_seq == seq) & (delivery.c.relay_id == relay_id)
    accepted = {"state": DeliveryState.ACCEPTED.value, "message": _READ_BACK, "due": None, "holder": None}
    if not connection.execute(update(delivery).where(row).values(accepted)).rowcount:
        connection.execute(insert(delivery).values(event_seq=seq, relay_id=relay_id, attempts=0, **accepted))


def subject_of(found: Event) -> Subject | None:
    """What an event is about; None if that is no score."""
    if found.kind == nip09.KIND:
        mine = f"{KIND}:{found.pubkey}:"
        addresses = [tag[1] for tag in found.tags if tag[0] == "a" and len(tag) > 1]
        if len(addresses) != 1 or not addresses[0].startswith(mine):
            return None
        d = addresses[0].removeprefix(mine)
        return Subject(d, d, 0)
    if found.kind != KIND:
        return None
    # What other software signed with the same key may be no proper score; its address is taken all the same.
    d = next((tag[1] for tag in found.tags if tag[0] == "d" and len(tag) > 1), "")
    published = read_published(found.to_json(), (found.pubkey,))
    username, score = (d, 0) if published is None else published.score[:2]
    return Subject(d, username, score)
