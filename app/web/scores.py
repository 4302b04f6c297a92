"""Scores over HTTP: post one, ask how it stands, ask for a player's latest."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from starlette.responses import Response
from starlette.routing import Route

from app.publisher import Receipt, ScoreState
from app.store.api_keys import KeyRevoked
from app.store.ledger import ClockBehind, TooFast
from app.web.answers import ScoreDocument
from app.web.auth import unauthenticated
from app.web.body import parse_body, read_body
from app.web.operation import Answer, Operation, promises
from app.web.problems import Problem
from app.web.schemas import ScoreBody

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.routing import BaseRoute

    from app.publisher import Publisher
    from app.web.limits import SignIn

MAX_WAIT = 30
_WAIT = re.compile(r'(?:^|[,;])\s*wait\s*=\s*"?(\d{1,9})"?\s*(?=$|[,;])', re.IGNORECASE)


class Scores:
    """The endpoints of scores.

    Args:
        public_url: what `Location` begins with.
    """

    def __init__(self, publisher: Publisher, sign_in: SignIn, public_url: str) -> None:
        self._publisher = publisher
        self._sign_in = sign_in
        self._public_url = public_url

    def routes(self) -> list[BaseRoute]:
        """The routes, the busiest first."""
        return [
            Route("/v1/scores", self.post, methods=["POST"]),
            Route("/v1/scores/{event_id}", self.get),
            Route("/v1/players/{username}", self.player),
        ]

    @promises(
        Operation(
            {
                201: Answer("Signed and stored.", ScoreDocument, ("Location", "Preference-Applied")),
                200: Answer("No improvement.", ScoreDocument, ("Location", "Preference-Applied")),
            },
            problems=("invalid-score", "too-fast", "clock-behind", "store-unavailable"),
            body=ScoreBody,
            signs_in=True,
            headers=("Prefer",),
        )
    )
    async def post(self, request: Request) -> Response:
        """Sign and publish a score: 201, or 200 with the standing event where it is no improvement."""
        principal = await self._sign_in.principal(request)
        body = parse_body(ScoreBody, await read_body(request), slug="invalid-score")
        wait = preferred_wait(request)
        try:
            receipt = await self._publisher.publish(body.claim(), key_id=principal.key_id, wait=wait or 0)
        except KeyRevoked as error:
            raise unauthenticated(f"{error}.", invalid=True) from None
        except TooFast as error:
            raise Problem("too-fast", f"{error}.", headers={"Retry-After": str(error.retry_after)}) from None
        except ClockBehind as error:
            raise Problem("clock-behind", f"{error}.", headers={"Retry-After": str(error.seconds)}) from None
        headers = {"Location": f"{self._public_url}/v1/scores/{receipt.event_id}"}
        if wait is not None:
            headers["Preference-Applied"] = f"wait={wait}"
        status = 200 if receipt.state is ScoreState.NOT_IMPROVED else 201
        return _answer(receipt, status, headers)

    @promises(Operation({200: Answer("The score.", ScoreDocument)}, ("not-found", "store-unavailable")))
    async def get(self, request: Request) -> Response:
        """A score as it stands now."""
        event_id = request.path_params["event_id"]
        receipt = await self._publisher.find(event_id)
        if receipt is None:
            raise Problem("not-found", "No score event with this id was signed here.")
        return _answer(receipt)

    @promises(Operation({200: Answer("The score.", ScoreDocument)}, ("not-found", "store-unavailable")))
    async def player(self, request: Request) -> Response:
        """A player's latest score, by any spelling of the name."""
        receipt = await self._publisher.latest(request.path_params["username"])
        if receipt is None:
            raise Problem("not-found", "No score was published under this name.")
        return _answer(receipt)


def preferred_wait(request: Request) -> int | None:
    """Seconds that `Prefer: wait=N` (RFC 7240) asks for, at most MAX_WAIT; None if it does not."""
    found = _WAIT.search(",".join(request.headers.getlist("prefer")))
    return min(int(found[1]), MAX_WAIT) if found else None


def _answer(receipt: Receipt, status: int = 200, headers: dict[str, str] | None = None) -> Response:
    return Response(receipt.to_json(), status, headers, media_type="application/json")
