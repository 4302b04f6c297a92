"""The Starlette application: every route and every handler, in explicit lists."""

from __future__ import annotations

from typing import TYPE_CHECKING

from starlette.applications import Starlette
from starlette.responses import PlainTextResponse, Response
from starlette.routing import Route

from app.web.openapi import openapi_route
from app.web.operation import Answer, Operation, promises
from app.web.problem_kinds import KINDS
from app.web.problems import Problem, exception_handlers

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request
    from starlette.routing import BaseRoute


def make_app(routes: Sequence[BaseRoute], public_url: str) -> Starlette:
    """The application with these routes, the pages of its problems, and problem documents for every error."""
    described = [*routes, Route("/problems/{slug}", problem_page)]
    found = sorted([*described, openapi_route(described, public_url)], key=_is_pattern)
    app = Starlette(
        routes=found,
        exception_handlers=exception_handlers(public_url),
    )
    app.router.redirect_slashes = False
    return app


def _is_pattern(route: BaseRoute) -> bool:
    """Whether a route takes many paths: it is tried after those that take one, each of which costs a look."""
    return not isinstance(route, Route) or bool(route.param_convertors)


@promises(Operation({200: Answer("What it means and what to do.")}, ("not-found",)))
async def problem_page(request: Request) -> Response:
    """What a problem's `type` address shows."""
    slug = request.path_params["slug"]
    kind = KINDS.get(slug)
    if kind is None:
        raise Problem("not-found", "There is no such problem type.")
    return PlainTextResponse(f"{kind.title} ({slug}, status {kind.status})\n\n{kind.advice}\n")
