"""GET /protocol: seed 000's page with this service's keys and relays; a box to check an event."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING, Any
from urllib.parse import parse_qsl

import orjson
from starlette.routing import Route

from app.nostr import json_text
from app.scores.score_event import MAX_SCORE, identifier
from app.verifier import verify_with
from app.web.body import FORM, read_body
from app.web.operation import Answer, Operation, promises
from app.web.pages import verdict_view
from app.web.problems import Problem

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response
    from starlette.routing import BaseRoute

    from app.scores.leaderboard import Leaderboard
    from app.web.answers import ProtocolDocument
    from app.web.limits import Limits
    from app.web.pages.html import Html

MAX_FORM = 3 * json_text.EXACT_LIMIT  # as long an event as can be read, with every byte as %XX
SUBSCRIPTION = "briscola-scores"
# From the strongest to the weakest, with their points (seed 000).
RANKS = {"Ace": 11, "3": 10, "King": 4, "Knight": 3, "Jack": 2, "7": 0, "6": 0, "5": 0, "4": 0, "2": 0}


class ProtocolPage:
    """The endpoints.

    Args:
        document: what the page tells.
        board: whose events can be looked up by a player's name.
    """

    def __init__(self, html: Html, document: ProtocolDocument, board: Leaderboard, limits: Limits) -> None:
        self._html = html
        self._board = board
        self._limits = limits
        self._keys = frozenset(document["public_keys"])
        self._told: dict[str, Any] = {
            "document": document,
            "content": _pretty(orjson.loads(document["example"]["content"])),
            "tags": _lines(document["example"]["tags"]),
            "recommended": _request(document["filter"]),
            "documented": _request(document["documented_filter"]),
            "max_score": MAX_SCORE,
            "ranks": RANKS.items(),
        }

    def routes(self) -> list[BaseRoute]:
        """The routes of the page."""
        return [Route("/protocol", self.show), Route("/protocol/check", self.check, methods=["POST"])]

    @promises(Operation({200: Answer("The page.", media_type="text/html")}, query=("player",)))
    async def show(self, request: Request) -> Response:
        """Rules and protocol, for people; with the checks of a player's latest score, if one is named."""
        row = self._board.row(identifier(request.query_params.get("player", "")))
        return await self._page(request, "" if row is None else row.event)

    @promises(
        Operation({200: Answer("The page, with the verdict.", media_type="text/html")}, form=("event",))
    )
    async def check(self, request: Request) -> Response:
        """The checks of an event that somebody has put into the page's form."""
        await self._limits.count_work(request.scope)
        raw = await read_body(request, MAX_FORM, (FORM,))
        return await self._page(request, _event(raw).strip())

    async def _page(self, request: Request, event: str) -> Response:
        # Off the loop: an event that nests deeply takes a while to read.
        verdict = await asyncio.to_thread(verify_with, event, self._keys) if event else None
        shown = verdict_view.BLANK if verdict is None else verdict_view.view(verdict)
        return self._html.page(
            request, "protocol", here="/protocol", pasted=event, verdict=shown, **self._told
        )


def _event(form: bytes) -> str:
    try:
        ((name, event),) = parse_qsl(form.decode("latin-1"), keep_blank_values=True, max_num_fields=1)
    except ValueError:
        name = event = ""
    if name != "event":
        raise Problem("malformed-body", "The form has one field, event, and no other.")
    return event


def _request(wanted: dict[str, object]) -> str:
    fields = ",\n".join(f'    "{name}": {orjson.dumps(value).decode()}' for name, value in wanted.items())
    return f'[\n  "REQ",\n  "{SUBSCRIPTION}",\n  {{\n{fields}\n  }}\n]'


def _pretty(value: object) -> str:
    return orjson.dumps(value, option=orjson.OPT_INDENT_2).decode()


def _lines(tags: list[list[str]]) -> str:
    """Each tag on a line of its own."""
    return "[\n" + ",\n".join(f"  {orjson.dumps(tag).decode()}" for tag in tags) + "\n]"
