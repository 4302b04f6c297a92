"""POST /v1/verify: what `verify` and `replay` check offline, for anybody with events or a transcript."""

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
from app.matches.replay import verify_transcript
from app.matches.transcript import KIND
from app.nostr.event import InvalidEvent, read_fields
from app.verifier import Check, verify_with
from app.web.answers import VerificationDocument
from app.web.body import JSON, read_body
from app.web.operation import Answer, Operation, promises
from app.web.problems import Problem
from app.web.protocol import key_warnings

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request
    from starlette.routing import BaseRoute

    from app.web.limits import Limits, SignIn

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
        sign_in: tells who may have the choices of the level `master` replayed; None for nobody.
    """

    def __init__(self, keys: frozenset[str], limits: Limits, sign_in: SignIn | None = None) -> None:
        self._keys = keys
        self._sign_in = sign_in
        self._limits = limits
        self._warnings = key_warnings(keys)
        self._turn = asyncio.Semaphore()  # one at a time beside the loop, whose thread shares the interpreter

    def routes(self) -> list[BaseRoute]:
        """The route."""
        return [Route("/v1/verify", self.verify, methods=["POST"])]

    @promises(
        Operation(
            {200: Answer("A verdict on each event, in order, or one on a transcript.", VerificationDocument)},
            ("unauthenticated", "identity-provider-unavailable", "store-unavailable"),
            body=Events,
            media_types=_LINES,
        )
    )
    async def verify(self, request: Request) -> Response:
        """Make the five checks on up to 500 events: one, a list of them, or one on each line.

        A single event of kind 30078 is replayed as the transcript of a match; for those who sign in, the
        choices of the level `master` too.
        """
        await self._limits.count_work(request.scope)
        raw = await read_body(request, MAX_BYTES, (JSON, *_LINES))
        signed_in = self._sign_in is not None and "authorization" in request.headers
        if self._sign_in is not None and signed_in:
            await self._sign_in.principal(request)
        async with self._turn:
            answer = await asyncio.to_thread(self._judge, raw, master=signed_in)
        return Response(answer, media_type=JSON)

    def _judge(self, raw: bytes, *, master: bool) -> str:
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
        if len(events) == 1 and _is_transcript(events[0]):
            replayed = verify_transcript(events[0], self._keys, master=master)
            return self._answer([], {"transcript": replayed.to_dict()})
        verdicts = [verify_with(event, self._keys) for event in events]
        if all(verdict.failed is Check.UNPARSABLE for verdict in verdicts):
            raise Problem(
                "malformed-body", f"Nothing in the body is a JSON object: {verdicts[0].reasons[0]}."
            )
        return self._answer([{"index": index, **verdict.to_dict()} for index, verdict in enumerate(verdicts)])

    def _answer(self, verdicts: list[dict[str, Any]], more: Mapping[str, Any] | None = None) -> str:
        # Not orjson: a name may hold a lone surrogate, which only an escape can carry.
        document = {"verdicts": verdicts, "warnings": self._warnings, **(more or {})}
        return json.dumps(document, separators=(",", ":"))


def _is_transcript(event: str | bytes) -> bool:
    try:
        return read_fields(event)[0].get("kind") == KIND
    except InvalidEvent:
        return False
