"""What requests with an Idempotency-Key came to, kept beside the events they signed."""

from __future__ import annotations

import hashlib
from dataclasses import dataclass
from typing import TYPE_CHECKING, Self

from app.store.cursor import SKIP_LOCKED, Insert

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.principal import Principal
    from app.store.cursor import Cursor, Later

# Seconds for which an outcome is kept.
KEPT = 24 * 60 * 60

# More than twice as many as a batch adds, so that what has expired goes sooner than it comes.
_PRUNED = 1000


@dataclass(frozen=True, slots=True)
class Attempt:
    """A request that is to be answered once, however often it is sent.

    Attributes:
        id: a hash of the principal and the key: two principals may use one key.
        fingerprint: a hash of the body.
    """

    id: str
    fingerprint: str

    @classmethod
    def of(cls, principal: Principal, key: str, body: bytes) -> Self:
        """The attempt that a body makes under a key, which has no line breaks."""
        return cls(_hash(f"{key}\n{principal.id}".encode()), _hash(body))


@dataclass(frozen=True, slots=True)
class Result:
    """What an attempt came to.

    Attributes:
        improved: whether the event was signed for it; False if it stood already.
    """

    fingerprint: str
    event_seq: int
    event_id: str
    improved: bool


_SELECT = """
    SELECT idempotency.id, at, fingerprint, event_seq, event.id, improved
    FROM each(?) JOIN idempotency ON idempotency.id = value JOIN event ON event.seq = event_seq
"""
# What is replaced has expired.
_INSERT = Insert(
    "idempotency",
    "id, fingerprint, event_seq, improved, at",
    "ON CONFLICT (id) DO UPDATE SET fingerprint = excluded.fingerprint, event_seq = excluded.event_seq, "
    "improved = excluded.improved, at = excluded.at",
)
_PRUNE = f"""
    DELETE FROM idempotency
    WHERE id IN (SELECT id FROM idempotency WHERE at <= ? LIMIT {_PRUNED} {SKIP_LOCKED})
"""  # noqa: S608 - constants


def ask_results(cursor: Cursor, attempts: Sequence[Attempt], now: float) -> Later[dict[str, Result]]:
    """What attempts of the last 24 hours came to, by their ids."""
    if not attempts:
        return dict
    rows = cursor.ask(_SELECT, [attempt.id for attempt in attempts])
    return lambda: {
        attempt_id: Result(fingerprint, seq, event_id, bool(improved))
        for attempt_id, at, fingerprint, seq, event_id, improved in rows()
        if at > now - KEPT
    }


def write_results(cursor: Cursor, results: dict[str, Result], now: float) -> None:
    """Keep what attempts came to, and forget what has expired."""
    if not results:
        return
    rows = [(key, r.fingerprint, r.event_seq, r.improved, now) for key, r in results.items()]
    cursor.insert(_INSERT, rows)
    cursor.run(_PRUNE, now - KEPT)


def _hash(data: bytes) -> str:
    return hashlib.sha256(data).hexdigest()
