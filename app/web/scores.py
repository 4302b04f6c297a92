"""Scores over HTTP: post one, ask how it stands, ask for a player's latest, delete it."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from starlette.responses import Response
from starlette.routing import Route

from app.delivery.model import DeliveryState
from app.publisher import Receipt, ScoreState
from app.store.refusals import NothingToDelete, Refused
from app.web.answers import PlayerDocument, ScoreDocument
from app.web.body import parse_body, read_body
from app.web.idempotency import attempt_of
from app.web.operation import Answer, Operation, promises
from app.web.permission import require_name, require_publisher
from app.web.problems import Problem
from app.web.refusals import problem_of
from app.web.schemas import ScoreBody

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.routing import BaseRoute

    from app.publisher import Publisher
    from app.web.limits import SignIn

MAX_WAIT = 30
_ANSWERED = ("Location", "Preference-Applied")
_WAIT = re.compile(r'(?:^|[,;])\s*wait\s*=\s*"?(\d{1,9})"?\s*(?=$|[,;])', re.IGNORECASE)


class Scores:
    """The endpoints of scores.

    Args:
        public_url: what `Location` begins with.
        only_proved: whether players publish what they have played here alone.
    """

    def __init__(
        self, publisher: Publisher, sign_in: SignIn, public_url: str, *, only_proved: bool = False
    ) -> None:
        self._only_proved = only_proved
        self._publisher = publisher
        self._sign_in = sign_in
        self._public_url = public_url

    def routes(self) -> list[BaseRoute]:
        """The routes, the busiest first."""
        return [
            Route("/v1/scores", self.post, methods=["POST"]),
            Route("/v1/scores/{event_id}", self.get),
            Route("/v1/players/{username}", self.player),
            Route("/v1/players/{username}/score", self.delete, methods=["DELETE"]),
        ]

    @promises(
        Operation(
            {
                201: Answer("Signed and stored.", ScoreDocument, (*_ANSWERED, "Idempotent-Replayed")),
                200: Answer("No improvement.", ScoreDocument, (*_ANSWERED, "Idempotent-Replayed")),
            },
            problems=(
                "malformed-header",
                "forbidden",
                "proof-required",
                "name-taken",
                "name-banned",
                "invalid-score",
                "idempotency-key-reused",
                "too-fast",
                "clock-behind",
            ),
            body=ScoreBody,
            signs_in=True,
            headers=("Prefer", "Idempotency-Key"),
        )
    )
    async def post(self, request: Request) -> Response:
        """Sign and publish a score: 201, or 200 with the standing event where it is no improvement."""
        principal = await self._sign_in.principal(request)
        if self._only_proved and principal.key_id is None:
            raise Problem("proof-required")
        raw = await read_body(request)
        attempt = attempt_of(request, principal, raw)
        claim = parse_body(ScoreBody, raw, slug="invalid-score").claim()
        require_publisher(principal, claim.username)
        wait = preferred_wait(request)
        try:
            receipt = await self._publisher.publish(
                claim, principal=principal, attempt=attempt, wait=wait or 0
            )
        except Refused as refusal:
            raise problem_of(refusal) from None
        status = 200 if receipt.state is ScoreState.NOT_IMPROVED else 201
        headers = self._headers(receipt, wait)
        if receipt.replayed:
            headers["Idempotent-Replayed"] = "true"
        return _answer(receipt, status, headers)

    @promises(Operation({200: Answer("The score.", ScoreDocument)}, ("not-found", "store-unavailable")))
    async def get(self, request: Request) -> Response:
        """A score, or a deletion, as it stands now."""
        event_id = request.path_params["event_id"]
        receipt = await self._publisher.find(event_id)
        if receipt is None:
            raise Problem("not-found", "No event with this id was signed here.")
        return _answer(receipt)

    @promises(
        Operation(
            {200: Answer("The score.", PlayerDocument)}, ("not-found", "score-deleted", "store-unavailable")
        )
    )
    async def player(self, request: Request) -> Response:
        """A player's latest score, and how many matches they have begun, by any spelling of the name."""
        receipt, matches = await self._publisher.latest(request.path_params["username"])
        if receipt is not None and receipt.state is not ScoreState.DELETED:
            return _answer(receipt)
        problem = problem_of(NothingToDelete(None if receipt is None else receipt.deleted_at))
        problem.members["matches"] = matches  # hands thrown away show, also where no score does
        raise problem

    @promises(
        Operation(
            {
                200: Answer("Every relay has the deletion.", ScoreDocument, _ANSWERED),
                202: Answer("The deletion is signed and stored.", ScoreDocument, _ANSWERED),
            },
            problems=("forbidden", "not-found", "score-deleted", "too-fast", "clock-behind"),
            signs_in=True,
            headers=("Prefer",),
        )
    )
    async def delete(self, request: Request) -> Response:
        """Delete a player's score: 200 once every relay has the deletion, 202 with how it stands before."""
        principal = await self._sign_in.principal(request)
        username = request.path_params["username"]
        require_name(principal, username)
        wait = preferred_wait(request)
        try:
            receipt = await self._publisher.delete(username, principal, wait=wait or 0)
        except Refused as refusal:
            raise problem_of(refusal) from None
        everywhere = all(relay.state is DeliveryState.ACCEPTED for relay in receipt.relays)
        return _answer(receipt, 200 if everywhere else 202, self._headers(receipt, wait))

    def _headers(self, receipt: Receipt, wait: int | None) -> dict[str, str]:
        headers = {"Location": f"{self._public_url}/v1/scores/{receipt.event_id}"}
        if wait is not None:
            headers["Preference-Applied"] = f"wait={wait}"
        return headers


def preferred_wait(request: Request) -> int | None:
    """Seconds that `Prefer: wait=N` (RFC 7240) asks for, at most MAX_WAIT; None if it does not."""
    found = _WAIT.search(",".join(request.headers.getlist("prefer")))
    return min(int(found[1]), MAX_WAIT) if found else None


def _answer(receipt: Receipt, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(receipt.to_json(), status, headers, media_type="application/json")
