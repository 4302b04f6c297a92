"""GET /v1/leaderboard: the board as the relays have it, verified row by row."""

from __future__ import annotations

from typing import TYPE_CHECKING, Protocol

from starlette.responses import Response
from starlette.routing import Route

from app.web.answers import BoardDocument
from app.web.board import BoardSource, BoardView, NotOnBoard
from app.web.board_query import parse_query
from app.web.conditional import has_it
from app.web.operation import Answer, Operation, promises
from app.web.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request
    from starlette.routing import BaseRoute

    from app.web.limits import Limits


class Reading(BoardSource, Protocol):
    """A board whose first reading can be waited for."""

    async def ready(self) -> None:
        """Wait until every relay has been read, or the time for that is over."""


class LeaderboardRoutes:
    """The endpoint.

    Args:
        clock: unix seconds.
    """

    def __init__(self, reading: Reading, limits: Limits, clock: Callable[[], float]) -> None:
        self._reading = reading
        self._limits = limits
        self._view = BoardView(reading, clock)

    def routes(self) -> list[BaseRoute]:
        """The route."""
        return [Route("/v1/leaderboard", self.get)]

    @promises(
        Operation(
            {
                200: Answer("The rows, best first.", BoardDocument, ("ETag",)),
                304: Answer("As the client has it.", headers=("ETag",), media_type=None),
            },
            ("invalid-query", "not-found"),
            query=("limit", "cursor", "since", "until", "around"),
            headers=("If-None-Match",),
        )
    )
    async def get(self, request: Request) -> Response:
        """The newest score of each player, ranked 1, 2, 2, 4; ties by time, then by id.

        `complete` says whether every relay has been read to its end; `relays` says how far each is.
        """
        query = parse_query(request.scope["query_string"])
        if query.is_costly:
            await self._limits.count_work(request.scope)
        await self._reading.ready()
        try:
            body, etag = self._view.render(query)
        except NotOnBoard:
            raise Problem("not-found", "No score of this name is on this board.") from None
        headers = {"ETag": etag, "Cache-Control": "no-cache"}
        if has_it(request.headers.getlist("if-none-match"), etag):
            return Response(status_code=304, headers=headers)
        return Response(body, headers=headers, media_type="application/json")
