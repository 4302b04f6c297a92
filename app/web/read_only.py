"""What a mirror answers to whoever wants to change something."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.web.cors import is_public
from app.web.problems import Problem

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Receive, Scope, Send


class ReadOnly:
    """ASGI middleware that refuses every call but those that anybody may make.

    Args:
        public_url: what a problem's type begins with.
    """

    def __init__(self, app: ASGIApp, public_url: str) -> None:
        self._app = app
        self._public_url = public_url

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Pass a read on; answer anything else with 405."""
        if scope["type"] != "http" or is_public(scope["method"], scope["path"]):
            await self._app(scope, receive, send)
            return
        problem = Problem(
            "method-not-allowed",
            "This is a read-only mirror: scores are posted to the service that signs them.",
            headers={"Allow": "GET, HEAD"},
        )
        await problem.response(self._public_url)(scope, receive, send)
