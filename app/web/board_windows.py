"""Rankings of a span of time, kept for as long as they are worth their making."""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import TYPE_CHECKING

from app.scores.leaderboard import Ranking
from app.scores.proofs import Proofs, Wanted

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.scores.leaderboard import Leaderboard
    from app.scores.signed_score import SignedScore

EVERY_ROW = Wanted()
_KEPT = 8
_LEAST_SECONDS = 1.0
_SHARE = 20  # a ranking is kept so many times as long as its making took, so that it takes 5 % of the time


Version = tuple[int, int]


class Rows:
    """A ranking that can be searched by name.

    Attributes:
        version: of the board, and of the proofs, that it was made of.
    """

    def __init__(
        self, ranking: Ranking, version: Version, find: Callable[[str], SignedScore | None] | None = None
    ) -> None:
        self.ranking = ranking
        self.version = version
        self._find = find
        self._by_name: dict[str, SignedScore] | None = None

    def row(self, d: str) -> SignedScore | None:
        """The row of a lower-cased name; None if it is not in this ranking."""
        if self._find is not None:
            return self._find(d)
        if self._by_name is None:
            self._by_name = {row.d: row for _, row in self.ranking.page(len(self.ranking))}
        return self._by_name.get(d)


class Windows:
    """The rankings of a board: of all rows, and of parts of them.

    The ranking of a part may be a second old, or older where the board is so large that making it takes long.

    Args:
        clock: seconds that never step back.
        proofs: of the board's rows.
    """

    def __init__(
        self,
        board: Leaderboard,
        clock: Callable[[], float] = time.monotonic,
        proofs: Proofs | None = None,
    ) -> None:
        self._board = board
        self._clock = clock
        self._proofs = proofs or Proofs()
        self._kept: OrderedDict[tuple[int | None, int | None, Wanted], tuple[float, Rows]] = OrderedDict()
        self._whole = self._board_rows()

    def rows(self, since: int | None, until: int | None, wanted: Wanted = EVERY_ROW) -> Rows:
        """The wanted rows between two unix seconds, both included; None is no bound."""
        version = self._board.version, self._proofs.version
        if since is None and until is None and wanted.all:
            if self._whole.version != version:
                self._whole = self._board_rows()
            return self._whole
        key = since, until, wanted
        now = self._clock()
        kept = self._kept.get(key)
        if kept is not None and (kept[1].version == version or now < kept[0]):
            self._kept.move_to_end(key)
            return kept[1]
        ranking = Ranking(self._proofs.select(self._board.rows(since, until), wanted))
        ranking.page(1)  # sorts
        rows = Rows(ranking, version)
        made = self._clock()
        self._kept[key] = made + max(_LEAST_SECONDS, _SHARE * (made - now)), rows
        self._kept.move_to_end(key)
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return rows

    def _board_rows(self) -> Rows:
        version = self._board.version, self._proofs.version
        return Rows(self._board.ranking, version, self._board.row)
