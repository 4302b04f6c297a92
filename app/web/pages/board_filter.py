"""What the page / is asked to show. What makes no sense is left out: people change addresses by hand."""

from __future__ import annotations

from contextlib import suppress
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING
from urllib.parse import urlencode

from app.briscola.computer import LEVELS
from app.web.board_query import DEFAULT_LIMIT, PERIODS, BoardQuery, parse_query
from app.web.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Mapping

PARAMETERS = ("period", "q", "proved", "level", "cursor")
MAX_SEARCH = 64
ALL = "all"


@dataclass(frozen=True, slots=True)
class BoardFilter:
    """The rows that are asked for; the names in the address are the API's where it has them.

    Attributes:
        period: `day`, `week` or `all`.
        search: a player's name, or empty.
        proved: whether proved scores alone are shown.
        level: the computer's in them, or empty for any; with one, `proved` is true.
    """

    period: str = ALL
    search: str = ""
    proved: bool = False
    level: str = ""

    @classmethod
    def read(cls, asked: Mapping[str, str]) -> BoardFilter:
        """What an address asks for."""
        period, level = asked.get("period", ""), asked.get("level", "")
        return cls(
            period=period if period in PERIODS else ALL,
            search=asked.get("q", "").strip()[:MAX_SEARCH],
            proved=asked.get("proved") == "1" or level in LEVELS,
            level=level if level in LEVELS else "",
        )

    def query(self, cursor: str) -> BoardQuery:
        """The rows of the board to show; a cursor that was given out nowhere begins at the top."""
        query = BoardQuery(
            limit=DEFAULT_LIMIT,
            since=None if self.period == ALL else self.period,
            proved=self.proved,
            level=self.level or None,
        )
        if cursor:
            with suppress(Problem):
                query = query._replace(cursor=parse_query(urlencode({"cursor": cursor}).encode()).cursor)
        return query

    def of_period(self, period: str) -> str:
        """The query of an address that asks for the same of another time."""
        return replace(self, period=period).address()

    def address(self, cursor: str = "") -> str:
        """The query of an address that asks for this, behind a cursor."""
        asked = {
            "period": self.period,
            "q": self.search,
            "proved": "1" if self.proved else "",
            "level": self.level,
            "cursor": cursor,
        }
        return "?" + urlencode({name: value for name, value in asked.items() if value})
