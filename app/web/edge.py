"""The outermost layer of the application: preflights, the headers of every answer, and the count of them."""

from __future__ import annotations

import asyncio
from time import perf_counter
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from starlette.responses import Response

from app.web.problems import Problem

if TYPE_CHECKING:
    from starlette.types import ASGIApp, Message, Receive, Scope, Send

    from app.web.cors import Cors, Headers
    from app.web.traffic import Traffic

_CSP = b"content-security-policy"
_NOTHING = (_CSP, b"default-src 'none'; frame-ancestors 'none'")


def security_headers(public_url: str) -> Headers:
    """What keeps a browser from doing anything with an answer but what it is for."""
    headers = [(b"x-content-type-options", b"nosniff"), (b"referrer-policy", b"no-referrer")]
    if urlsplit(public_url).scheme == "https":
        headers.append((b"strict-transport-security", b"max-age=31536000"))
    return headers


class Edge:
    """ASGI middleware around everything else, so that errors carry the headers too.

    A page that needs more than nothing sends a Content-Security-Policy of its own, which then stands.
    """

    def __init__(self, app: ASGIApp, cors: Cors, traffic: Traffic, public_url: str) -> None:
        self._app = app
        self._cors = cors
        self._traffic = traffic
        self._public_url = public_url
        self._security = security_headers(public_url)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Answer a preflight, or pass the call on."""
        if scope["type"] != "http":
            await self._app(scope, receive, send)
            return
        began = perf_counter()
        extra = [*self._security, *self._cors.answer_headers(scope)]
        status = 0

        async def send_with_headers(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                own = message["headers"]
                message["headers"] = [*own, *extra]
                if _CSP not in dict(own):
                    message["headers"].append(_NOTHING)
            await send(message)

        try:
            if "\0" in scope["path"]:  # which PostgreSQL takes in no text
                raise Problem("not-found", "No address holds a U+0000.")
            preflight = self._cors.preflight(scope)
            if preflight is None:
                await self._app(scope, receive, send_with_headers)
            else:
                extra = self._security
                response = Response(status_code=204)
                response.raw_headers = preflight
                await response(scope, receive, send_with_headers)
        except Problem as problem:
            await problem.response(self._public_url)(scope, receive, send_with_headers)
        except asyncio.CancelledError:
            # The server has stopped waiting for this call to come to an end.
            if not status:
                await Problem("stopping").response(self._public_url)(scope, receive, send_with_headers)
        finally:
            if status:
                self._traffic.answered(scope, status, perf_counter() - began)
