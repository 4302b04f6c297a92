"""GET /v1/leaderboard: the board as the relays have it, verified row by row."""

from __future__ import annotations

from functools import lru_cache
from typing import TYPE_CHECKING

from starlette.responses import Response
from starlette.routing import Route

from app.web.answers import BoardDocument
from app.web.board import NotOnBoard
from app.web.board_query import PARAMETERS, STREAM_PARAMETERS, parse_query
from app.web.conditional import is_known
from app.web.event_stream import EventStream
from app.web.operation import Answer, Operation, promises
from app.web.problems import Problem
from app.web.room import Room

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.routing import BaseRoute

    from app.web.board import Rendered
    from app.web.limits import Limits
    from app.web.live_board import LiveBoard


MAX_STREAMS = 2000


class LeaderboardRoutes:
    """The endpoints of the board."""

    def __init__(self, board: LiveBoard, limits: Limits) -> None:
        self._board = board
        self._limits = limits
        self._room = Room(MAX_STREAMS)

    def routes(self) -> list[BaseRoute]:
        """The routes."""
        return [Route("/v1/leaderboard", self.get), Route("/v1/leaderboard/stream", self.stream)]

    @promises(
        Operation(
            {
                200: Answer("The rows, best first.", BoardDocument, ("ETag",)),
                304: Answer("As the client has it.", headers=("ETag",), media_type=None),
            },
            ("invalid-query", "not-found"),
            query=PARAMETERS,
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
        await self._board.ready()
        try:
            rendered = self._board.view.render(query)
        except NotOnBoard:
            raise Problem("not-found", "No score of this name is on this board.") from None
        if is_known(request.scope, rendered.etag):
            return Response(status_code=304, headers=_headers(rendered))
        return _answer(rendered)

    @promises(
        Operation(
            {200: Answer("Events, until the client leaves.", media_type=EventStream.media_type)},
            ("invalid-query",),
            query=STREAM_PARAMETERS,
            headers=("Last-Event-ID",),
        )
    )
    async def stream(self, request: Request) -> Response:
        """The board and whatever changes on it, as server-sent events.

        `board` is what GET /v1/leaderboard answers, and takes the place of all before it.
        `change` is `{"entries": […], "removed": […]}`: rows that came or changed, with their new ranks, and
        the lower-cased names whose rows are gone; rows that were passed move without a word.
        With `proved` or `level` there are no rows but those, ranked among themselves; one that is no longer
        one of them is removed. `relays` is `{"complete", "relays"}`. Who comes back with Last-Event-ID is
        told what it missed, or begins with `board` anew. Who reads too slowly is dropped.
        """
        query = parse_query(request.scope["query_string"], STREAM_PARAMETERS)
        address = self._limits.origin(request.scope)
        if not self._room.admit(address):
            raise Problem("overloaded", "Too many streams are open.", headers={"Retry-After": "30"})
        try:
            await self._board.ready()
        except BaseException:
            self._room.release(address)
            raise
        channel = self._board.channel(query.wanted)
        return EventStream(
            channel.hub,
            begin=lambda: channel.beginning(query.limit),
            last_id=request.headers.get("last-event-id"),
            ended=lambda: self._room.release(address),
        )


@lru_cache(maxsize=16)
def _answer(rendered: Rendered) -> Response:
    """The whole answer, which can be sent any number of times; most callers ask for the same few rows."""
    return Response(rendered.body, headers=_headers(rendered), media_type="application/json")


def _headers(rendered: Rendered) -> dict[str, str]:
    return {"ETag": rendered.etag, "Cache-Control": "no-cache"}
