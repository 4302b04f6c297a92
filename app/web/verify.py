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
    from collections.abc import Mapping, Sequence

    from starlette.requests import Request
    from starlette.routing import BaseRoute

    from app.child.aside import Aside
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
        replays: replays transcripts with these choices (see `replay_main`).
    """

    def __init__(
        self,
        keys: frozenset[str],
        limits: Limits,
        sign_in: SignIn | None = None,
        replays: Aside | None = None,
    ) -> None:
        self._keys = keys
        self._sign_in = sign_in
        self._replays = replays
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
            events, is_transcript = await asyncio.to_thread(_read, raw)
            if is_transcript:
                answer = self._answer([], {"transcript": await self._replay(events[0], master=signed_in)})
            else:
                answer = await asyncio.to_thread(self._judge, events)
        return Response(answer, media_type=JSON)

    def _judge(self, events: Sequence[str | bytes]) -> str:
        """The answer; the verifier sees each event's own text, in which a repeated key shows.

        Raises:
            Problem: 400 if nothing is an event.
        """
        verdicts = [verify_with(event, self._keys) for event in events]
        if all(verdict.failed is Check.UNPARSABLE for verdict in verdicts):
            raise Problem(
                "malformed-body", f"Nothing in the body is a JSON object: {verdicts[0].reasons[0]}."
            )
        return self._answer([{"index": index, **verdict.to_dict()} for index, verdict in enumerate(verdicts)])

    async def _replay(self, event: str | bytes, *, master: bool) -> dict[str, Any]:
        """The verdict on a transcript as JSON tells it; with the choices of `master` it takes 0.2 s."""
        if master and self._replays is not None:
            text = event.encode() if isinstance(event, str) else event
            verdict: dict[str, Any] = json.loads(await self._replays.ask(text))
            return verdict
        return (await asyncio.to_thread(verify_transcript, event, self._keys, master=False)).to_dict()

    def _answer(self, verdicts: list[dict[str, Any]], more: Mapping[str, Any] | None = None) -> str:
        # Not orjson: a name may hold a lone surrogate, which only an escape can carry.
        document = {"verdicts": verdicts, "warnings": self._warnings, **(more or {})}
        return json.dumps(document, separators=(",", ":"))


def _read(raw: bytes) -> tuple[list[str | bytes], bool]:
    """The events in a body, and whether it is a single one that holds a transcript.

    Raises:
        Problem: 400 if the body holds nothing to judge, 413 if it holds too much.
    """
    try:
        events = list(islice(read_events(io.BytesIO(raw)), MAX_EVENTS + 1))
    except UnusableFile as error:
        raise Problem("malformed-body", f"The body holds no events: {error}.") from None
    if len(events) > MAX_EVENTS:
        raise Problem("body-too-large", f"Send at most {MAX_EVENTS} events.")
    return events, len(events) == 1 and _is_transcript(events[0])


def _is_transcript(event: str | bytes) -> bool:
    try:
        return read_fields(event)[0].get("kind") == KIND
    except InvalidEvent:
        return False
