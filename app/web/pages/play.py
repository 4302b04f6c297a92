"""GET /play: the table, which is a script: practice anywhere, proved hands where matches are kept."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any

from starlette.routing import Route

from app.web.operation import Answer, Operation, promises
from app.web.pages import offline, verdict_view

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

    from app.web.pages.html import Html

PATH = "/play"


class PlayPage:
    """The endpoint.

    Args:
        service: the public address that signed calls name; empty where no match is kept, as on a mirror.
    """

    def __init__(self, html: Html, service: str) -> None:
        self._html = html
        self._told: dict[str, Any] = {
            "service": service,
            "worker": html.root + offline.PATH,
            "blank_verdict": verdict_view.BLANK,
        }

    def routes(self) -> list[BaseRoute]:
        """The routes of the page, and of the worker that keeps it."""
        render = partial(self._html.render, "play", here=PATH, packed=False, **self._told)
        worker = offline.ServiceWorker(self._html.assets, self._html.root + PATH, render)
        return [Route(PATH, self.show), *worker.routes()]

    @promises(Operation({200: Answer("The page.", media_type="text/html")}))
    async def show(self, request: Request) -> Response:
        """A table to play on, for people."""
        return self._html.page(request, "play", here=PATH, **self._told)
