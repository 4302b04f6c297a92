"""GET /: the board as this server has verified it; the page's script then reads the relays itself."""

from __future__ import annotations

import unicodedata
from dataclasses import dataclass
from datetime import UTC, datetime
from typing import TYPE_CHECKING, Protocol
from urllib.parse import urlencode

from starlette.routing import Route

from app.scores.score_event import identifier
from app.web.operation import Answer, Operation, promises
from app.web.pages import verdict_view

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

    from app.scores.leaderboard import Entry, Leaderboard, Ranking
    from app.web.pages.html import Html

PAGE = 100
MAX_SEARCH = 64
MAX_DIGITS = 9
NOT_COMPLETE = "Not every relay has told all it has, so scores may be missing."
PERIODS = {"day": 86_400, "week": 7 * 86_400, "all": None}


@dataclass(frozen=True, slots=True)
class RelayView:
    """How the reading of one relay stands; `state` is live, partial or away."""

    url: str
    state: str
    says: str


class Standing(Protocol):
    """What this server has read."""

    @property
    def board(self) -> Leaderboard:
        """The verified scores."""

    @property
    def complete(self) -> bool:
        """Whether every relay has told all it has."""

    @property
    def relays(self) -> Sequence[RelayView]:
        """Each relay in the order of the settings."""


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
class BoardView:
    """What the template `leaderboard.html` shows."""

    entries: list[RowView]
    complete: bool
    relays: Sequence[RelayView]
    count_text: str
    notice: str
    empty_text: str
    next: str


class LeaderboardPage:
    """The endpoint."""

    def __init__(self, html: Html, standing: Standing, clock: Callable[[], float]) -> None:
        self._html = html
        self._standing = standing
        self._clock = clock

    def routes(self) -> list[BaseRoute]:
        """The route of the page."""
        return [Route("/", self.show)]

    @promises(Operation({200: Answer("The page.", media_type="text/html")}, query=("period", "q", "from")))
    async def show(self, request: Request) -> Response:
        """The leaderboard, for people."""
        asked = request.query_params
        period = asked.get("period", "")
        period = period if period in PERIODS else "all"
        search = asked.get("q", "").strip()[:MAX_SEARCH]
        start = asked.get("from", "")
        place = int(start) if start.isdecimal() and len(start) <= MAX_DIGITS else 0
        return self._html.page(
            "leaderboard",
            here="/",
            period=period,
            search=search,
            board=self._view(period, search, place),
            blank_entry=RowView(),
            blank_verdict=verdict_view.BLANK,
        )

    def _view(self, period: str, search: str, start: int) -> BoardView:
        standing = self._standing
        ranking = self._ranking(PERIODS[period])
        # Without scripts a name is found whole, in any spelling: looking into each would cost a pass over all.
        entries = self._find(ranking, search) if search else ranking.page(PAGE, start=start)
        behind = start + len(entries)
        more = f"?{urlencode({'period': period, 'from': behind})}" if not search and behind < len(ranking) else ""
        return BoardView(
            entries=[RowView.of(entry) for entry in entries],
            complete=standing.complete,
            relays=standing.relays,
            count_text="1 player" if len(ranking) == 1 else f"{len(ranking)} players",
            notice="" if standing.complete else NOT_COMPLETE,
            empty_text=self._empty_text(search),
            next=more,
        )

    def _ranking(self, seconds: int | None) -> Ranking:
        board = self._standing.board
        return board.ranking if seconds is None else board.window(since=int(self._clock()) - seconds)

    def _find(self, ranking: Ranking, name: str) -> list[Entry]:
        row = self._standing.board.row(identifier(unicodedata.normalize("NFKC", name)))
        if row is None:
            return []
        try:
            return ranking.around(row, 0, 0)
        except ValueError:  # its score is older than the period
            return []

    def _empty_text(self, search: str) -> str:
        if search:
            return f"Nobody here is called “{search}”."
        if len(self._standing.board) > 0:
            return "No score in this time. Look at all time."
        return "No score yet. The first hand is still to be played."
