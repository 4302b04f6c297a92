"""GET /service-worker.js: what lets browsers keep the page /play, so that practice needs no network."""

from __future__ import annotations

import hashlib
from functools import cached_property
from typing import TYPE_CHECKING

import orjson
from starlette.responses import Response
from starlette.routing import Route

from app.web.operation import Answer, Operation, promises
from app.web.problems import Problem

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request
    from starlette.routing import BaseRoute

    from app.web.pages.assets import Assets

PATH = "/service-worker.js"  # beside /play, for a worker reaches no higher than its own folder
SCRIPT = "offline.js"
FILES = ("style.css", "play.css", "icon.svg", "play.js")
"""What the page /play loads."""

_MEDIA_TYPE = "text/javascript"
_HEADERS = {
    "Cache-Control": "no-cache",
    "Content-Security-Policy": "default-src 'none'; connect-src 'self'",
}


class ServiceWorker:
    """The endpoint.

    Args:
        path: where the page is.
        render: makes the page, which is kept anew when it changes; it names its files by their hashes.
    """

    def __init__(self, assets: Assets, path: str, render: Callable[[], bytes]) -> None:
        self._assets = assets
        self._path = path
        self._render = render

    def routes(self) -> list[BaseRoute]:
        """The route of the script."""
        return [Route(PATH, self.show)]

    @promises(Operation({200: Answer("The script.", media_type=_MEDIA_TYPE)}, ("not-found",)))
    async def show(self, _request: Request) -> Response:
        """The service worker of /play: it keeps that page and its files, and nothing else."""
        if self._assets.script(SCRIPT) is None:
            raise Problem("not-found", "This service was installed without the pages' scripts.")
        return Response(self._script, media_type=_MEDIA_TYPE, headers=_HEADERS)

    @cached_property
    def _script(self) -> bytes:
        kept = {
            "page": self._path,
            "files": [self._assets.address(name) for name in FILES],
            "version": hashlib.sha256(self._render()).hexdigest(),
        }
        return b"self.kept = %b;\n%b" % (orjson.dumps(kept), self._assets.content(SCRIPT))
