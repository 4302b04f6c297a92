"""One stream of the board: what it tells all those who listen to the same rows."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

import orjson

from app.web.board import entry_document
from app.web.board_query import BoardQuery
from app.web.board_windows import Rows
from app.web.event_stream import Hub, message

if TYPE_CHECKING:
    from collections.abc import Callable, Collection

    from app.scores.leaderboard import Entry, Ranking
    from app.scores.proofs import Wanted
    from app.scores.signed_score import SignedScore
    from app.web.board import BoardView

MAX_TOLD = 50
"""When more rows have changed at once, readers begin anew."""


class Part(Protocol):
    """The board, or a selection of its rows."""

    version: int
    ranking: Ranking

    def row(self, d: str) -> SignedScore | None:
        """The row of a lower-cased name."""

    def entry(self, d: str) -> Entry | None:
        """The same with its rank."""


class Channel:
    """Tells readers of the changes of a part of the board.

    Args:
        view: renders the board.
        part: its wanted rows.
        changed: which of the board's names that changed are news in this part.

    Attributes:
        hub: of the readers.
    """

    def __init__(
        self,
        view: BoardView,
        part: Part,
        wanted: Wanted,
        changed: Callable[[Collection[str]], Collection[str]],
    ) -> None:
        self.hub = Hub()
        self._wanted = wanted
        self._view = view
        self._part = part
        self._changed = changed

    def beginning(self, limit: int | None) -> bytes:
        """The event with which a reader begins: so many rows from the top."""
        query = BoardQuery(limit=limit, proved=self._wanted.proved, level=self._wanted.level)
        versions = self._part.version, self._view.proofs.version
        rows = Rows(self._part.ranking, versions, self._part.row)
        return message("board", self._view.render(query, rows).body, self.hub.last_id)

    def tell(self, names: Collection[str]) -> None:
        """The rows of these lower-cased names have changed on the board."""
        changed = self._changed(names)
        if len(changed) > MAX_TOLD:
            self.hub.begin_anew()
        elif changed:
            entries = {name: self._part.entry(name) for name in sorted(changed)}
            document = {
                "entries": [
                    entry_document(entry, self._view.proofs.of(entry.row))
                    for entry in entries.values()
                    if entry is not None
                ],
                "removed": [name for name, entry in entries.items() if entry is None],
            }
            self.hub.send("change", orjson.dumps(document))
