"""GET /: the board as this server has verified it; the page's script then reads the relays itself."""

from __future__ import annotations

import unicodedata
from contextlib import suppress
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from starlette.routing import Route

from app.scores.score_event import identifier
from app.web.board import select
from app.web.board_query import DEFAULT_LIMIT, PERIODS, BoardQuery, cursor_text, parse_query
from app.web.conditional import is_known
from app.web.operation import Answer, Operation, promises
from app.web.pages import verdict_view
from app.web.pages.assets import takes_gzip
from app.web.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

    from app.scores.leaderboard import Entry
    from app.web.board import BoardSource, BoardView, RelayReading
    from app.web.board_windows import Rows
    from app.web.pages.html import Html

PAGE = DEFAULT_LIMIT
ALL = "all"
MAX_SEARCH = 64
NOT_COMPLETE = "Not every relay has told all it has, so scores may be missing."


@dataclass(frozen=True, slots=True)
class RowView:
    """A row of the table, as texts."""

    rank: str = ""
    username: str = ""
    score: str = "0"
    iso: str = ""
    when: str = ""
    event: str = ""

    @classmethod
    def of(cls, entry: Entry) -> RowView:
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
        )


@dataclass(frozen=True, slots=True)
class TableView:
    """What the template `leaderboard.html` shows of the board."""

    entries: list[RowView]
    complete: bool
    relays: Sequence[RelayReading]
    count: int
    notice: str
    empty: str
    next: str


class LeaderboardPage:
    """The endpoint."""

    def __init__(self, html: Html, view: BoardView) -> None:
        self._html = html
        self._view = view

    def routes(self) -> list[BaseRoute]:
        """The route of the page."""
        return [Route("/", self.show)]

    @promises(
        Operation(
            {
                200: Answer("The page.", headers=("ETag",), media_type="text/html"),
                304: Answer("As the client has it.", headers=("ETag",), media_type=None),
            },
            query=("period", "q", "cursor"),
            headers=("If-None-Match",),
        )
    )
    async def show(self, request: Request) -> Response:
        """The leaderboard, for people."""
        asked = request.query_params
        period = asked.get("period", "")
        period = period if period in PERIODS else ALL
        search = asked.get("q", "").strip()[:MAX_SEARCH]
        query = _query(period, asked.get("cursor", ""))
        packed = takes_gzip(request)

        def make(rows: Rows) -> bytes:
            return self._html.render(
                "leaderboard",
                here="/",
                packed=packed,
                period=period,
                search=search,
                board=self._table(query, period, search, rows),
                blank_entry=RowView(),
                blank_verdict=verdict_view.BLANK,
            )

        body, etag = self._view.keep(query, ("page", search, packed), make)
        if is_known(request.scope, etag):
            return self._html.not_modified(etag)
        return self._html.answer(body, packed=packed, etag=etag)

    def _table(self, query: BoardQuery, period: str, search: str, rows: Rows) -> TableView:
        entries, more = (_find(rows, search), False) if search else select(rows, query)
        behind = {"period": period, "cursor": cursor_text(entries[-1].position)} if more else {}
        source = self._view.source
        return TableView(
            entries=[RowView.of(entry) for entry in entries],
            complete=source.complete,
            relays=source.relays,
            count=len(rows.ranking),
            notice="" if source.complete else NOT_COMPLETE,
            empty=_why_empty(search, source),
            next=f"?{urlencode(behind)}" if more else "",
        )


def _why_empty(search: str, source: BoardSource) -> str:
    if search:
        return f'Nobody here is called "{search}".'
    if len(source.board) > 0:
        return "No score in this time. Look at all time."
    if source.relays and all(relay.state == "failed" for relay in source.relays):
        return "No score has come: no relay can be reached. Load this page again in a moment."
    if not source.complete:
        return "No score yet: the relays are still being read. Load this page again in a moment."
    return "No score yet. The first hand is still to be played."


def _query(period: str, cursor: str) -> BoardQuery:
    """The rows to show; a cursor that was given out nowhere begins at the top."""
    query = BoardQuery(limit=PAGE, since=None if period == ALL else period)
    if cursor:
        with suppress(Problem):
            query = replace(query, cursor=parse_query(urlencode({"cursor": cursor}).encode()).cursor)
    return query


def _find(rows: Rows, name: str) -> list[Entry]:
    """The row of a name, in any spelling but whole: looking into each one would cost a pass over all."""
    row = rows.row(identifier(unicodedata.normalize("NFKC", name)))
    return [] if row is None else rows.ranking.around(row, 0, 0)
