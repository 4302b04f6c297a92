"""The board: each player's newest score in one total order, whatever order events come in.

Order: higher score, then earlier `created_at`, then lower id. Ranks are those of competition: 1, 2, 2, 4.
"""

from __future__ import annotations

from heapq import heappop, heappush
from typing import TYPE_CHECKING, NamedTuple

from app.scores.ordered import Key, Ordered
from app.scores.signed_score import SignedScore

if TYPE_CHECKING:
    from collections.abc import Iterable, Iterator

    from app.scores.signed_score import Deletion

AHEAD_SECONDS = 15 * 60
"""How far ahead of the clock an event may be; one that is further has to wait until it is not."""

_NONE: frozenset[str] = frozenset()


class Position(NamedTuple):
    """A place in the order, of a row that may be gone by now: where a page ended."""

    score: int
    created_at: int
    event_id: str


class Entry(NamedTuple):
    """A row of the board."""

    rank: int
    row: SignedScore

    @property
    def position(self) -> Position:
        """The cursor behind this row."""
        return Position(self.row.score, self.row.created_at, self.row.event_id)


class Ranking:
    """Rows in order. With n rows each call costs O(log n), and a page besides what it returns."""

    def __init__(self, rows: Iterable[SignedScore] = ()) -> None:
        self._rows = Ordered(_key)  # a key that is shorter than others stands before those that it begins
        for row in rows:
            self.add(row)

    def __len__(self) -> int:
        return len(self._rows)

    def rank(self, score: int) -> int:
        """The rank that a row with this score has, or would have."""
        return int(self._rows.keys.bisect_left((-score,))) + 1

    def page(self, limit: int, *, start: int = 0) -> list[Entry]:
        """Up to `limit` entries from the row that `start` others stand before."""
        entries: list[Entry] = []
        rank = score = None
        for place, key in enumerate(self._rows.keys.islice(start, start + limit), start + 1):
            if rank is None:
                rank = self.rank(-key[0])
            elif key[0] != score:
                rank = place
            score = key[0]
            entries.append(Entry(rank, self._rows[key]))
        return entries

    def after(self, position: Position, limit: int) -> list[Entry]:
        """Up to `limit` entries behind a position, right whatever has changed since it was taken."""
        score, created_at, event_id = position
        start = self._rows.keys.bisect_left((-score, created_at, event_id + "\0"))
        return self.page(limit, start=start)

    def around(self, row: SignedScore, before: int, behind: int) -> list[Entry]:
        """The entry of a row, up to `before` entries above it and up to `behind` below.

        Raises:
            ValueError: The row is not on the board.
        """
        place = self._rows.keys.index(_key(row))
        start = max(place - before, 0)
        return self.page(place + behind + 1 - start, start=start)

    def add(self, row: SignedScore) -> None:
        """Put in a row that is not there yet."""
        self._rows.add(row.event_id, row)

    def remove(self, row: SignedScore) -> None:
        """Take out a row that is there."""
        self._rows.remove(row.event_id, row)


class Leaderboard:
    """Newest score per name, in order; takes events in any order and any number of times.

    Of a name's versions the newest stands, of equally new ones the one with the lowest id, across all keys of
    the app. If that one is deleted the name has no row: older versions do not come back.

    Attributes:
        ranking: The rows in order, for reading.
        version: Grows with every change of a row.
    """

    def __init__(self) -> None:
        self.ranking = Ranking()
        self.version = 0
        self._newest: dict[
            str, SignedScore
        ] = {}  # by d; deleted ones too, which older versions must not replace
        self._by_time = Ordered(_time_key)
        self._names: dict[str, str] = {}  # by id of the newest
        self._deleted_until: dict[str, int] = {}
        self._deleted_ids: set[str] = set()
        self._deletions: set[str] = set()
        self._early: list[tuple[int, str, SignedScore | Deletion]] = []  # a heap: what is too far ahead
        self._early_ids: set[str] = set()
        self._horizon = 0

    def __len__(self) -> int:
        return len(self.ranking)

    @property
    def early(self) -> int:
        """How many events wait because they are more than 15 minutes ahead of the clock."""
        return len(self._early)

    @property
    def next_early(self) -> int | None:
        """When the next of them comes in, in unix seconds."""
        return self._early[0][0] - AHEAD_SECONDS if self._early else None

    def row(self, d: str) -> SignedScore | None:
        """The row of a lower-cased name."""
        newest = self._newest.get(d)
        return None if newest is None or self._is_deleted(newest, d) else newest

    def entry(self, d: str) -> Entry | None:
        """The row of a lower-cased name with its rank; O(log n)."""
        row = self.row(d)
        return None if row is None else Entry(self.ranking.rank(row.score), row)

    def window(self, since: int | None = None, until: int | None = None) -> Ranking:
        """The ranking among the rows of a time, both ends included; it does not follow later changes.

        Costs O(log n + w log w) for w rows in the window: keep it as long as `version` is the same.
        """
        return Ranking(self.rows(since, until))

    def rows(self, since: int | None = None, until: int | None = None) -> Iterator[SignedScore]:
        """The rows of a time, both ends included, oldest first."""
        lower = None if since is None else (since,)
        upper = None if until is None else (until + 1,)
        return map(self._by_time.__getitem__, self._by_time.keys.irange(lower, upper))

    def would_change(self, d: str, created_at: int, event_id: str) -> bool:
        """Whether a score with these, if its signature held, is news here; false for known and older ones."""
        newest = self._newest.get(d)
        return event_id not in self._early_ids and (
            newest is None or _is_newer(created_at, event_id, newest.created_at, newest.event_id)
        )

    def knows_deletion(self, event_id: str) -> bool:
        """Whether this deletion has been taken."""
        return event_id in self._deletions or event_id in self._early_ids

    def add(self, event: SignedScore | Deletion, now: float) -> frozenset[str]:
        """Take a verified event at unix time `now`; returns the names whose rows changed. O(log n)."""
        changed = self.advance(now)
        if event.created_at > self._horizon:
            if event.event_id not in self._early_ids:
                self._early_ids.add(event.event_id)
                heappush(self._early, (event.created_at, event.event_id, event))
            return changed
        names = self._add(event)
        return changed | names if changed else names

    def advance(self, now: float) -> frozenset[str]:
        """Let in what is no longer too far ahead at unix time `now`; returns the names whose rows changed.

        What was let in stays, should the clock step back.
        """
        horizon = int(now) + AHEAD_SECONDS
        if horizon <= self._horizon:
            return _NONE
        self._horizon = horizon
        changed = _NONE
        while self._early and self._early[0][0] <= self._horizon:
            _, event_id, event = heappop(self._early)
            self._early_ids.discard(event_id)
            changed |= self._add(event)
        return changed

    def _add(self, event: SignedScore | Deletion) -> frozenset[str]:
        names = self._add_score(event) if isinstance(event, SignedScore) else self._add_deletion(event)
        self.version += bool(names)
        return names

    def _add_score(self, score: SignedScore) -> frozenset[str]:
        d = score.d
        standing = self._newest.get(d)
        shown = False
        if standing is not None:
            if not _is_newer(score.created_at, score.event_id, standing.created_at, standing.event_id):
                return _NONE
            del self._names[standing.event_id]
            if shown := not self._is_deleted(standing, d):
                self._hide(standing)
        self._newest[d] = score
        self._names[score.event_id] = d
        if shows := not self._is_deleted(score, d):
            self.ranking.add(score)
            self._by_time.add(score.event_id, score)
        return frozenset({d}) if shown or shows else _NONE

    def _add_deletion(self, deletion: Deletion) -> frozenset[str]:
        if deletion.event_id in self._deletions:
            return _NONE
        touched = deletion.names | {self._names[one] for one in deletion.event_ids if one in self._names}
        before = {d: row for d in touched if (row := self.row(d)) is not None}
        self._deletions.add(deletion.event_id)
        self._deleted_ids |= deletion.event_ids
        for d in deletion.names:
            self._deleted_until[d] = max(deletion.created_at, self._deleted_until.get(d, -1))
        gone = frozenset(d for d, row in before.items() if self._is_deleted(row, d))
        for d in gone:
            self._hide(before[d])
        return gone

    def _hide(self, row: SignedScore) -> None:
        self.ranking.remove(row)
        self._by_time.remove(row.event_id, row)

    def _is_deleted(self, score: SignedScore, d: str) -> bool:
        return score.event_id in self._deleted_ids or score.created_at <= self._deleted_until.get(d, -1)


def _is_newer(created_at: int, event_id: str, than: int, than_id: str) -> bool:
    """NIP-01: the later one is newer, and of two of one second the one with the lower id."""
    return created_at > than or (created_at == than and event_id < than_id)


def _key(row: SignedScore) -> Key:
    return -row.score, row.created_at, row.event_id


def _time_key(row: SignedScore) -> Key:
    return row.created_at, row.event_id
