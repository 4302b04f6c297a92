"""Errors as `application/problem+json` (RFC 9457): a stable slug, and a sentence that says what to do."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING, Any

import orjson
from starlette.requests import ClientDisconnect
from starlette.responses import Response

from app.store.errors import OutcomeUnknown, StoreUnavailable
from app.web.problem_kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request
    from starlette.types import ExceptionHandler, Receive, Scope, Send

    from app.web.answers import FaultDocument, ProblemDocument

log = logging.getLogger(__name__)


class Problem(Exception):
    """An error that goes to the client.

    Args:
        slug: a key of KINDS.
        detail: what is wrong with this call and what to do; None for the kind's own advice.
        headers: further response headers.
        errors: for faulty fields, `{"field", "message"}` each.
        members: further members of the problem document.
    """

    def __init__(
        self,
        slug: str,
        detail: str | None = None,
        *,
        headers: Mapping[str, str] | None = None,
        errors: list[FaultDocument] | None = None,
        members: Mapping[str, object] | None = None,
    ) -> None:
        super().__init__(detail or slug)
        self.slug = slug
        self.detail = detail or KINDS[slug].advice
        self.headers = dict(headers or {})
        self.errors = errors
        self.members = dict(members or {})

    @property
    def status(self) -> int:
        """The HTTP status."""
        return KINDS[self.slug].status

    def response(self, public_url: str) -> Response:
        """The problem document."""
        kind = KINDS[self.slug]
        document: ProblemDocument = {
            "type": f"{public_url}/problems/{self.slug}",
            "title": kind.title,
            "status": kind.status,
            "detail": self.detail,
        }
        if self.errors:
            document["errors"] = self.errors
        return ProblemResponse(self.slug, orjson.dumps(document | self.members), kind.status, self.headers)


class ProblemResponse(Response):
    """A problem document, which leaves its slug in the ASGI scope for whoever counts."""

    media_type = "application/problem+json"

    def __init__(self, slug: str, content: bytes, status_code: int, headers: Mapping[str, str]) -> None:
        super().__init__(content, status_code, headers)
        self._slug = slug

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        """Send the document."""
        scope["problem"] = self._slug
        await super().__call__(scope, receive, send)


def exception_handlers(public_url: str) -> dict[Any, ExceptionHandler]:
    """Handlers that turn every exception into a problem document."""

    async def on_problem(_request: Request, error: Exception) -> Response:
        assert isinstance(error, Problem)  # noqa: S101 - Starlette dispatches by class
        return error.response(public_url)

    async def on_not_found(request: Request, _error: Exception) -> Response:
        path = request.scope["path"]  # not the URL: a bad Host header makes none
        return Problem("not-found", f"Nothing is at {path[:200]}.").response(public_url)

    async def on_method(request: Request, error: Exception) -> Response:
        headers = getattr(error, "headers", None)
        return Problem(
            "method-not-allowed", f"{request.method} is not allowed here.", headers=headers
        ).response(public_url)

    async def on_store(_request: Request, error: Exception) -> Response:
        log.error("%s", error)
        slug = "outcome-unknown" if isinstance(error, OutcomeUnknown) else "store-unavailable"
        return Problem(slug, headers={"Retry-After": "5"}).response(public_url)

    async def on_failure(request: Request, error: Exception) -> Response:
        # The path as its repr: it comes decoded, and a line break in it must not look like a line of ours.
        log.error("%s %r failed", request.method, request.scope["path"], exc_info=error)
        return Problem("internal").response(public_url)

    async def on_hang_up(_request: Request, _error: Exception) -> Response:
        return Response(status_code=400)  # nobody reads it

    return {
        Problem: on_problem,
        StoreUnavailable: on_store,
        ClientDisconnect: on_hang_up,
        404: on_not_found,
        405: on_method,
        Exception: on_failure,
    }
