"""POST /v1/verify: the five checks on events that anybody brings, as `verify` makes them offline."""

from __future__ import annotations

import asyncio
import io
import json
from itertools import islice
from typing import TYPE_CHECKING, Annotated, Any

from pydantic import WithJsonSchema
from starlette.responses import Response
from starlette.routing import Route

from app.event_file import UnusableFile, read_events
from app.verifier import Check, verify_with
from app.web.answers import VerificationDocument
from app.web.body import JSON, read_body
from app.web.operation import Answer, Operation, promises
from app.web.problems import Problem
from app.web.protocol import key_warnings

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.routing import BaseRoute

    from app.web.limits import Limits

MAX_BYTES = 1024 * 1024
MAX_EVENTS = 500
_LINES = ("application/x-ndjson", "application/jsonl")

Events = Annotated[
    Any,
    WithJsonSchema(
        {
            "title": "Events",
            "description": f"One event, or a list of up to {MAX_EVENTS}; what is none gets a verdict too.",
            "anyOf": [
                {"type": "object"},
                {"type": "array", "contains": {"type": "object"}},
            ],
        }
    ),
]


class Verification:
    """The endpoint.

    Args:
        keys: the app's public keys, hex.
    """

    def __init__(self, keys: frozenset[str], limits: Limits) -> None:
        self._keys = keys
        self._limits = limits
        self._warnings = key_warnings(keys)
        self._turn = asyncio.Semaphore()  # one at a time beside the loop, whose thread shares the interpreter

    def routes(self) -> list[BaseRoute]:
        """The route."""
        return [Route("/v1/verify", self.verify, methods=["POST"])]

    @promises(
        Operation(
            {200: Answer("A verdict on each event, in order.", VerificationDocument)},
            body=Events,
            media_types=_LINES,
        )
    )
    async def verify(self, request: Request) -> Response:
        """Make the five checks on up to 500 events: one, a list of them, or one on each line."""
        await self._limits.count_work(request.scope)
        raw = await read_body(request, MAX_BYTES, (JSON, *_LINES))
        async with self._turn:
            answer = await asyncio.to_thread(self._judge, raw)
        return Response(answer, media_type=JSON)

    def _judge(self, raw: bytes) -> str:
        """The answer; the verifier sees each event's own text, in which a repeated key shows.

        Raises:
            Problem: 400 if the body holds nothing to judge, 413 if it holds too much.
        """
        try:
            events = list(islice(read_events(io.BytesIO(raw)), MAX_EVENTS + 1))
        except UnusableFile as error:
            raise Problem("malformed-body", f"The body holds no events: {error}.") from None
        if len(events) > MAX_EVENTS:
            raise Problem("body-too-large", f"Send at most {MAX_EVENTS} events.")
        verdicts = [verify_with(event, self._keys) for event in events]
        if all(verdict.failed is Check.UNPARSABLE for verdict in verdicts):
            raise Problem(
                "malformed-body", f"Nothing in the body is a JSON object: {verdicts[0].reasons[0]}."
            )
        # Not orjson: a name may hold a lone surrogate, which only an escape can carry.
        listed = [{"index": index, **verdict.to_dict()} for index, verdict in enumerate(verdicts)]
        return json.dumps({"verdicts": listed, "warnings": self._warnings}, separators=(",", ":"))
