"""Rankings of a span of time, kept for as long as they are worth their making."""

from __future__ import annotations

import time
from collections import OrderedDict
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.scores.leaderboard import Leaderboard, Ranking
    from app.scores.signed_score import SignedScore

_KEPT = 8
_LEAST_SECONDS = 1.0
_SHARE = 20  # a ranking is kept so many times as long as its making took, so that it takes 5 % of the time


class Rows:
    """A ranking that can be searched by name.

    Attributes:
        version: of the board that it was made of.
    """

    def __init__(
        self, ranking: Ranking, version: int, find: Callable[[str], SignedScore | None] | None = None
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
    """The rankings of a board, of all time and of spans of it.

    The ranking of a span may be a second old, or older where the board is so large that making it takes long.

    Args:
        clock: seconds that never step back.
    """

    def __init__(self, board: Leaderboard, clock: Callable[[], float] = time.monotonic) -> None:
        self._board = board
        self._clock = clock
        self._kept: OrderedDict[tuple[int | None, int | None], tuple[float, Rows]] = OrderedDict()

    def rows(self, since: int | None, until: int | None) -> Rows:
        """The rows between two unix seconds, both included; None is no bound."""
        if since is None and until is None:
            return Rows(self._board.ranking, self._board.version, self._board.row)
        key = since, until
        now = self._clock()
        kept = self._kept.get(key)
        if kept is not None and (kept[1].version == self._board.version or now < kept[0]):
            self._kept.move_to_end(key)
            return kept[1]
        ranking = self._board.window(since, until)
        ranking.page(1)  # sorts
        rows = Rows(ranking, self._board.version)
        made = self._clock()
        self._kept[key] = made + max(_LEAST_SECONDS, _SHARE * (made - now)), rows
        self._kept.move_to_end(key)
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return rows
