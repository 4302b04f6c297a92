"""GET /play: the table, which is a script: practice anywhere, proved hands where matches are kept."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.routing import Route

from app.web.operation import Answer, Operation, promises
from app.web.pages import verdict_view

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

    from app.web.pages.html import Html


class PlayPage:
    """The endpoint.

    Args:
        service: the public address that signed calls name; empty where no match is kept, as on a mirror.
    """

    def __init__(self, html: Html, service: str) -> None:
        self._html = html
        self._service = service

    def routes(self) -> list[BaseRoute]:
        """The route of the page."""
        return [Route("/play", self.show)]

    @promises(Operation({200: Answer("The page.", media_type="text/html")}))
    async def show(self, request: Request) -> Response:
        """A table to play on, for people."""
        return self._html.page(
            request, "play", here="/play", service=self._service, blank_verdict=verdict_view.BLANK
        )
