"""Taking over events of the app's own keys that relays hold and this store did not know."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.delivery.model import DeliveryState
from app.nostr import nip09
from app.scores.published import read_published
from app.scores.score_event import KIND
from app.store.cursor import Insert, cursor_of
from app.store.journal import Entry, ask_last, insert_events
from app.store.names import lock_names

if TYPE_CHECKING:
    from collections.abc import Sequence

    from sqlalchemy import Connection

    from app.nostr.event import Event

_SELECT_KNOWN = "SELECT id, seq FROM event WHERE id IN (SELECT value FROM each(?))"
_SELECT_SECONDS = """
    SELECT d, created_at FROM event
    WHERE d IN (SELECT value FROM each(?)) AND created_at BETWEEN ? AND ?
"""
_NOTE_DELIVERED = Insert(
    "delivery",
    "event_seq, relay_id, state, message, attempts",
    """ON CONFLICT (event_seq, relay_id) DO UPDATE
    SET state = excluded.state, message = excluded.message, due = NULL, holder = NULL""",
)

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
    limit = now + AHEAD_LIMIT
    subjects = [subject_of(one.event) if one.event.created_at <= limit else None for one in found]
    taken = [(one, subject) for one, subject in zip(found, subjects, strict=True) if subject]
    cursor.lock(lock_names({subject.d for _, subject in taken}))
    asked, asked_seqs = ask_last(cursor), cursor.ask_seqs(len(taken))
    asked_known = cursor.ask(_SELECT_KNOWN, [one.event.id for one, _ in taken])
    names, times = [subject.d for _, subject in taken], [one.event.created_at for one, _ in taken]
    asked_seconds = cursor.ask(_SELECT_SECONDS, names, min(times, default=0), max(times, default=0))
    last, high_water = asked()
    seqs = iter(asked_seqs(last))
    known: dict[str, int] = dict(asked_known())
    seconds = set(asked_seconds())
    entries = []
    for one, subject in taken:
        event, second = one.event, (subject.d, one.event.created_at)
        # If the store has its own event of that second, this is no newer than what is known.
        if event.id not in known and second not in seconds:
            seq = known[event.id] = next(seqs)
            seconds.add(second)
            payload = event.to_json()
            entries.append(
                Entry(seq, subject.d, subject.username, subject.score, event, payload, frozenset())
            )
    insert_events(cursor, entries, max(now, high_water))
    held = {(known[one.event.id], one.relay_id) for one, _ in taken if one.event.id in known}
    accepted = (DeliveryState.ACCEPTED.value, _READ_BACK, 0)
    cursor.insert(_NOTE_DELIVERED, [(*row, *accepted) for row in sorted(held)])
    return [subject is not None for subject in subjects]


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
    username, score = (d, 0) if published is None else (published.username, published.score)
    return Subject(d, username, score)
