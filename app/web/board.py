"""The board as JSON: rows, how far each relay has been read, and where the next page begins."""

from __future__ import annotations

from collections import OrderedDict
from typing import TYPE_CHECKING, Any, NamedTuple, Protocol

import orjson

from app.nostr.relay_url import public_relay_url
from app.scores.proofs import Proof, Proofs
from app.scores.score_event import identifier
from app.web.board_query import cursor_text
from app.web.board_windows import Windows
from app.web.conditional import etag_of

if TYPE_CHECKING:
    from collections.abc import Callable, Hashable, Sequence

    from app.scores.leaderboard import Entry, Leaderboard
    from app.web.answers import EntryProofDocument, RelayReadingDocument
    from app.web.board_query import BoardQuery
    from app.web.board_windows import Rows

_KEPT = 16  # rendered answers; the largest has some 250 kB


class RelayReading(Protocol):
    """How far a relay has been read."""

    @property
    def url(self) -> str:
        """The relay."""

    @property
    def state(self) -> str:
        """`connecting`, `reading`, `live` or `failed`."""

    @property
    def reason(self) -> str:
        """Why it failed, or why not everything may have come; empty if neither."""

    @property
    def complete(self) -> bool:
        """Whether everything that it stores has come."""


class BoardSource(Protocol):
    """A board that is read from relays, and goes on being read."""

    @property
    def board(self) -> Leaderboard:
        """The rows so far."""

    @property
    def turns(self) -> int:
        """Grows whenever how a relay stands changes."""

    @property
    def complete(self) -> bool:
        """Whether every relay has been read completely."""

    @property
    def relays(self) -> Sequence[RelayReading]:
        """How far each relay has been read."""


class Rendered(NamedTuple):
    """An answer in bytes, and its entity tag."""

    body: bytes
    etag: str


class NotOnBoard(LookupError):
    """No row of that name is in the part of the board that was asked for."""


class BoardView:
    """Renders parts of a board, each once for as long as it stays the same.

    Args:
        clock: unix seconds.
        proofs: of the board's rows.

    Attributes:
        source: what is rendered.
        proofs: of its rows.
    """

    def __init__(self, source: BoardSource, clock: Callable[[], float], proofs: Proofs | None = None) -> None:
        self.source = source
        self._clock = clock
        self.proofs = proofs or Proofs()
        self._windows = Windows(source.board, proofs=self.proofs)
        self._kept: OrderedDict[object, tuple[object, Rendered]] = OrderedDict()

    def render(self, query: BoardQuery, rows: Rows | None = None) -> Rendered:
        """The document that GET /v1/leaderboard answers; `rows` are a stream's own.

        Raises:
            NotOnBoard: `around` names nobody who is on it.
        """
        form = "document" if rows is None else "stream"
        return self.keep(query, form, lambda rows: orjson.dumps(self._document(query, rows)), rows)

    def keep(
        self,
        query: BoardQuery,
        form: Hashable,
        make: Callable[[Rows], bytes],
        rows: Rows | None = None,
    ) -> Rendered:
        """What `make` makes of the rows of the time that is asked for, and of how the relays stand.

        It is not made again for the same query and `form` until either has changed.
        """
        since, until = query.window(self._clock())
        if rows is None:
            rows = self._windows.rows(since, until, query.wanted)
        key = (query, since, until, form)
        stamp = (rows.version, self.source.turns)
        kept = self._kept.get(key)
        if kept is None or kept[0] != stamp:
            body = make(rows)
            kept = self._kept[key] = stamp, Rendered(body, etag_of(body))
        self._kept.move_to_end(key)
        if len(self._kept) > _KEPT:
            self._kept.popitem(last=False)
        return kept[1]

    def _document(self, query: BoardQuery, rows: Rows) -> dict[str, Any]:
        entries, more = select(rows, query)
        return {
            "entries": [entry_document(entry, self.proofs.of(entry.row)) for entry in entries],
            **readings_document(self.source),
            "next": cursor_text(entries[-1].position) if more else None,
        }


def select(rows: Rows, query: BoardQuery) -> tuple[list[Entry], bool]:
    """The rows that a query asks for, and whether others follow; raises like `render`."""
    ranking = rows.ranking
    limit = len(ranking) if query.limit is None else query.limit
    if query.around is not None:
        row = rows.row(identifier(query.around))
        if row is None:
            raise NotOnBoard(query.around)
        above = (limit - 1) // 2
        entries = ranking.page(limit + 1)
        if all(entry.row != row for entry in entries[:above]):
            entries = ranking.around(row, above, limit - above)
    elif query.cursor is not None:
        entries = ranking.after(query.cursor, limit + 1)
    else:
        entries = ranking.page(limit + 1)
    return entries[:limit], len(entries) > limit


def entry_document(entry: Entry, proof: Proof | None) -> dict[str, Any]:
    """A row as JSON tells it."""
    rank, row = entry
    return {
        "rank": rank,
        "username": row.username,
        "score": row.score,
        "created_at": row.created_at,
        "event_id": row.event_id,
        "event": orjson.Fragment(row.event),
        "proof": proof and proof_document(proof),
    }


def proof_document(proof: Proof) -> EntryProofDocument:
    """What proves a row, as JSON tells it."""
    return {"match": proof.match, "level": proof.level, "transcript": proof.transcript}


def readings_document(source: BoardSource) -> dict[str, Any]:
    """Whether the board is complete, and how far each relay has been read."""
    return {"complete": source.complete, "relays": relay_documents(source)}


def relay_documents(source: BoardSource) -> list[RelayReadingDocument]:
    """How far each relay has been read, as anybody may see it."""
    return [
        {
            "url": public_relay_url(relay.url),
            "state": relay.state,
            "reason": relay.reason,
            "complete": relay.complete,
        }
        for relay in source.relays
    ]
