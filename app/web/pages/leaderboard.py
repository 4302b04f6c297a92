"""GET /: the board as this server has verified it; the page's script then reads the relays itself."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING

import orjson
from starlette.routing import Route

from app.briscola.computer import LEVELS
from app.matches.replay import NEVER_PROVED
from app.scores.score_event import identifier
from app.web.board import proof_document, relay_documents, select
from app.web.board_query import cursor_text
from app.web.conditional import is_known
from app.web.operation import Answer, Operation, promises
from app.web.pages import verdict_view
from app.web.pages.assets import takes_gzip
from app.web.pages.board_filter import PARAMETERS, BoardFilter

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

    from app.scores.leaderboard import Entry
    from app.scores.proofs import Proof
    from app.web.answers import RelayReadingDocument
    from app.web.board import BoardSource, BoardView
    from app.web.board_query import BoardQuery
    from app.web.board_windows import Rows
    from app.web.pages.html import Html

NOT_COMPLETE = "Not every relay has told all it has, so scores may be missing."


@dataclass(frozen=True, slots=True)
class RowView:
    """A row of the table, as texts; `proof` is its document in JSON, `level` the computer's in it, if any."""

    rank: str = ""
    username: str = ""
    score: str = "0"
    iso: str = ""
    when: str = ""
    event: str = ""
    proof: str = ""
    level: str = ""

    @classmethod
    def of(cls, entry: Entry, proof: Proof | None) -> RowView:
        """A row of the board."""
        row = entry.row
        at = datetime.fromtimestamp(row.created_at, UTC)
        return cls(
            rank=str(entry.rank),
            username=row.username,
            score=str(row.score),
            iso=at.isoformat().replace("+00:00", "Z"),
            when=f"{at:%Y-%m-%d %H:%M}",
            event=row.event,
            proof=orjson.dumps(proof_document(proof)).decode() if proof else "",
            level=proof.level if proof else "",
        )


@dataclass(frozen=True, slots=True)
class TableView:
    """What the template `leaderboard.html` shows of the board."""

    entries: list[RowView]
    complete: bool
    relays: list[RelayReadingDocument]
    count: int
    notice: str
    empty: str
    next: str


class LeaderboardPage:
    """The endpoint.

    Args:
        matches: whether the service keeps matches, whose transcripts can be asked of it.
    """

    def __init__(self, html: Html, view: BoardView, *, matches: bool) -> None:
        self._html = html
        self._view = view
        self._matches = matches

    def routes(self) -> list[BaseRoute]:
        """The route of the page."""
        return [Route("/", self.show)]

    @promises(
        Operation(
            {
                200: Answer("The page.", headers=("ETag",), media_type="text/html"),
                304: Answer("As the client has it.", headers=("ETag",), media_type=None),
            },
            query=PARAMETERS,
            headers=("If-None-Match",),
            lenient=True,
        )
    )
    async def show(self, request: Request) -> Response:
        """The leaderboard, for people."""
        asked = BoardFilter.read(request.query_params)
        query = asked.query(request.query_params.get("cursor", ""))
        packed = takes_gzip(request)

        def make(rows: Rows) -> bytes:
            return self._html.render(
                "leaderboard",
                here="/",
                packed=packed,
                asked=asked,
                levels=LEVELS,
                board=self._table(asked, query, rows),
                blank_entry=RowView(),
                blank_verdict=verdict_view.BLANK,
                matches=self._matches,
                never_proved=NEVER_PROVED,
            )

        body, etag = self._view.keep(query, ("page", asked, packed), make)
        if is_known(request.scope, etag):
            return self._html.not_modified(etag)
        return self._html.answer(body, packed=packed, etag=etag)

    def _table(self, asked: BoardFilter, query: BoardQuery, rows: Rows) -> TableView:
        entries, more = (_find(rows, asked.search), False) if asked.search else select(rows, query)
        source = self._view.source
        return TableView(
            entries=[RowView.of(entry, self._view.proofs.of(entry.row)) for entry in entries],
            complete=source.complete,
            relays=relay_documents(source),
            count=len(rows.ranking),
            notice="" if source.complete else NOT_COMPLETE,
            empty=_why_empty(asked, source),
            next=asked.address(cursor_text(entries[-1].position)) if more else "",
        )


def _why_empty(asked: BoardFilter, source: BoardSource) -> str:
    if asked.search:
        return f'Nobody here is called "{asked.search}".'
    if len(source.board) > 0 and asked.proved:
        return "No proved score here. Look at all scores, or play one."
    if len(source.board) > 0:
        return "No score in this time. Look at all time."
    if source.relays and all(relay.state == "failed" for relay in source.relays):
        return "No score has come: no relay can be reached. Load this page again in a moment."
    if not source.complete:
        return "No score yet: the relays are still being read. Load this page again in a moment."
    return "No score yet. The first hand is still to be played."


def _find(rows: Rows, name: str) -> list[Entry]:
    """The row of a name, in any spelling but whole: looking into each one would cost a pass over all."""
    row = rows.row(identifier(unicodedata.normalize("NFKC", name)))
    return [] if row is None else rows.ranking.around(row, 0, 0)
