"""A part of the board that is proved, ranked in itself and kept up with it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.scores.leaderboard import Entry, Ranking

if TYPE_CHECKING:
    from collections.abc import Collection

    from app.scores.leaderboard import Leaderboard
    from app.scores.proofs import Proofs, Wanted
    from app.scores.signed_score import SignedScore


class Selection:
    """The rows of a board that are wanted, as of the last `update`.

    Attributes:
        ranking: these rows in order, for reading.
        version: grows with every change of a row.
    """

    def __init__(self, board: Leaderboard, proofs: Proofs, wanted: Wanted) -> None:
        """Take the wanted rows; O(n) once."""
        self.version = 0
        self._board = board
        self._proofs = proofs
        self._wanted = wanted
        self._rows = {row.d: row for row in proofs.select(board.rows(), wanted)}
        self.ranking = Ranking(self._rows.values())

    def row(self, d: str) -> SignedScore | None:
        """The row of a lower-cased name."""
        return self._rows.get(d)

    def entry(self, d: str) -> Entry | None:
        """The row of a lower-cased name with its rank here; O(log n)."""
        row = self._rows.get(d)
        return None if row is None else Entry(self.ranking.rank(row.score), row)

    def update(self, names: Collection[str]) -> frozenset[str]:
        """Look at these lower-cased names anew; returns those whose rows changed here. O(log n) each."""
        changed = frozenset(d for d in names if self._update(d))
        self.version += bool(changed)
        return changed

    def _update(self, d: str) -> bool:
        old, new = self._rows.get(d), self._board.row(d)
        if new is not None and not self._proofs.counts(new, self._wanted):
            new = None
        if new == old:
            return False
        if old is not None:
            self.ranking.remove(self._rows.pop(d))
        if new is not None:
            self._rows[d] = new
            self.ranking.add(new)
        return True
