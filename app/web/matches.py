"""Matches over HTTP: open one, deal, play, resign, and read its transcript.

No answer holds a card that the player may not see: each is made of the player's observation alone, and so is
its entity tag.
"""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

import orjson
from starlette.responses import Response
from starlette.routing import Route

from app.briscola.errors import CardNotInHand, GameOver, MalformedCard
from app.match_host import (
    AlreadyDealt,
    InvalidStatement,
    MatchOver,
    NotDealt,
    NotNow,
    may_play,
)
from app.matches.match import WrongPly
from app.nostr.event import InvalidEvent, parse_event
from app.store.refusals import Refused
from app.thinking import TooManyThinking
from app.web.answers import EventDocument
from app.web.body import JSON, parse_body, read_body
from app.web.conditional import etag_of, is_known
from app.web.match_answers import MatchDocument, match_document
from app.web.operation import Answer, Operation, promises
from app.web.permission import require_publisher
from app.web.problems import Problem
from app.web.refusals import problem_of
from app.web.schemas import DealBody, MatchBody, PlayBody

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable

    from starlette.requests import Request
    from starlette.routing import BaseRoute

    from app.match_host import MatchHost
    from app.principal import Principal
    from app.store.matches import StoredMatch
    from app.web.answers import FaultDocument
    from app.web.limits import SignIn

    Find = Callable[[str], Awaitable[StoredMatch | None]]

_ID = re.compile(r"[0-9a-f]{32}")
_TOKEN = re.compile(r"[Bb]earer +([0-9a-f]{64})")
_NOSTR = "nostr:"
_ONE = ("not-found", "not-your-match")
_NOT_NOW: dict[type[NotNow], str] = {
    NotDealt: "not-dealt",
    AlreadyDealt: "already-dealt",
    MatchOver: "match-over",
}


class Matches:
    """The endpoints of matches.

    Args:
        public_url: what `Location` begins with.
    """

    def __init__(self, host: MatchHost, sign_in: SignIn, public_url: str) -> None:
        self._host = host
        self._sign_in = sign_in
        self._public_url = public_url

    def routes(self) -> list[BaseRoute]:
        """The routes, the busiest first."""
        return [
            Route("/v1/matches/{match_id}/plays", self.play, methods=["POST"]),
            Route("/v1/matches/{match_id}", self.get),
            Route("/v1/matches", self.post, methods=["POST"]),
            Route("/v1/matches/{match_id}/deal", self.deal, methods=["POST"]),
            Route("/v1/matches/{match_id}/resign", self.resign, methods=["POST"]),
            Route("/v1/matches/{match_id}/transcript", self.transcript),
        ]

    @promises(
        Operation(
            {201: Answer("Committed to, not dealt.", MatchDocument, ("Location",))},
            problems=(
                "forbidden",
                "name-taken",
                "name-banned",
                "match-unfinished",
                "matches-abandoned",
                "invalid-match",
                "clock-behind",
            ),
            body=MatchBody,
            signs_in=True,
        )
    )
    async def post(self, request: Request) -> Response:
        """Open a match against the computer: the service commits to its seed, and the name is the player's.

        Nothing is dealt yet. `token` is shown this once; it plays this match and can do nothing else.
        """
        principal = await self._sign_in.principal(request)
        body = parse_body(MatchBody, await read_body(request), slug="invalid-match")
        require_publisher(principal, body.username)
        player = _player(principal, body)
        try:
            opened = await self._host.open(body.username, body.level, player, principal)
        except Refused as refusal:
            raise problem_of(refusal) from None
        headers = {"Location": f"{self._public_url}/v1/matches/{opened.match.terms.match}"}
        return Response(
            orjson.dumps(match_document(opened.match) | {"token": opened.token}),
            201,
            headers,
            media_type=JSON,
        )

    @promises(
        Operation(
            {
                200: Answer("The match.", MatchDocument, ("ETag",)),
                304: Answer("As the client has it.", headers=("ETag",), media_type=None),
            },
            problems=_ONE,
            signs_in=True,
            plays=True,
            headers=("If-None-Match",),
        )
    )
    async def get(self, request: Request) -> Response:
        """The match as its player may see it."""
        body = orjson.dumps(match_document(await self._match(request)))
        headers = {"ETag": etag_of(body)}
        if is_known(request.scope, headers["ETag"]):
            return Response(status_code=304, headers=headers)
        return Response(body, headers=headers, media_type=JSON)

    @promises(
        Operation(
            {200: Answer("Dealt.", MatchDocument)},
            problems=(*_ONE, "statement-refused", "invalid-deal", "already-dealt", "match-over"),
            body=DealBody,
            signs_in=True,
            plays=True,
        )
    )
    async def deal(self, request: Request) -> Response:
        """Deal the cards with the player's seed, for which the player's key has signed.

        The same seed again gets the same cards.
        """
        match = await self._match(request, self._host.last_seen)
        body = parse_body(DealBody, await read_body(request), slug="invalid-deal")
        try:
            statement = parse_event(body.statement)
            match = await self._host.deal(match, bytes.fromhex(body.client_seed), statement)
        except InvalidEvent as error:
            raise _faulty("invalid-deal", "statement", str(error)) from None
        except InvalidStatement as error:
            raise Problem("statement-refused", _sentence(error)) from None
        except NotNow as error:
            raise _not_now(error) from None
        return _answer(match)

    @promises(
        Operation(
            {200: Answer("Played, and answered by the computer.", MatchDocument)},
            problems=(
                *_ONE,
                "invalid-play",
                "card-not-in-hand",
                "not-dealt",
                "wrong-ply",
                "match-over",
                "overloaded",
            ),
            body=PlayBody,
            signs_in=True,
            plays=True,
        )
    )
    async def play(self, request: Request) -> Response:
        """Play a card; the answer holds what the computer played then.

        The same card as the same ply again changes nothing. With the last card the score is published.
        """
        match = await self._match(request, self._host.last_seen)
        body = parse_body(PlayBody, await read_body(request), slug="invalid-play")
        try:
            match = await self._host.play(match, *body.play())
        except MalformedCard as error:
            raise _faulty("invalid-play", "card", str(error)) from None
        except CardNotInHand as error:
            raise Problem("card-not-in-hand", _sentence(error)) from None
        except WrongPly as error:
            raise Problem("wrong-ply", _sentence(error)) from None
        except GameOver as error:
            raise Problem("match-over", _sentence(error)) from None
        except NotNow as error:
            raise _not_now(error) from None
        except TooManyThinking:
            raise Problem(
                "overloaded",
                "Too many plays wait for this level: play it again.",
                headers={"Retry-After": "2"},
            ) from None
        return _answer(match)

    @promises(
        Operation(
            {200: Answer("It is over.", MatchDocument)},
            problems=(*_ONE, "clock-behind"),
            signs_in=True,
            plays=True,
        )
    )
    async def resign(self, request: Request) -> Response:
        """Give the hand up: it counts as forfeited from the deal on, and its seeds are shown."""
        match = await self._match(request)
        try:
            return _answer(await self._host.resign(match))
        except Refused as refusal:
            raise problem_of(refusal) from None

    @promises(
        Operation(
            {200: Answer("The event that holds the transcript.", EventDocument)},
            ("not-found", "no-transcript", "store-unavailable"),
        )
    )
    async def transcript(self, request: Request) -> Response:
        """The transcript of a match that is over: whoever reads it can replay the hand."""
        match_id = request.path_params["match_id"]
        text = await self._host.transcript(match_id)
        if text is None:
            if not _ID.fullmatch(match_id) or await self._host.find(match_id) is None:
                raise _no_match()
            raise Problem("no-transcript")
        return Response(text, media_type=JSON)

    async def _match(self, request: Request, find: Find | None = None) -> StoredMatch:
        """The match of a call, if whoever makes it may play it.

        Raises:
            Problem: 401 or 403, if not; 404 if there is no such match.
        """
        match_id = request.path_params["match_id"]
        token = _TOKEN.fullmatch(request.headers.get("authorization", ""))
        # A token is not counted as a sign-in is: it costs a hash, and nobody guesses one.
        principal = None if token else await self._sign_in.principal(request)
        match = await (find or self._host.find)(match_id) if _ID.fullmatch(match_id) else None
        if match is None:
            raise _no_match()
        if not (may_play(match, token[1]) if token else principal and principal.id == match.principal):
            raise Problem("not-your-match")
        return match


def _player(principal: Principal, body: MatchBody) -> str:
    """The public key that signs for the player.

    Raises:
        Problem: 403 if none is known, or it is not the one that signed in.
    """
    own = principal.id.removeprefix(_NOSTR) if principal.id.startswith(_NOSTR) else None
    player = body.player or own
    if player is None:
        raise Problem("forbidden", "Nobody could sign for the player: make a key, and send it as `player`.")
    if own is not None and player != own:
        raise Problem("forbidden", "`player` is not the key that signed this call: leave it out.")
    return player


def _answer(match: StoredMatch) -> Response:
    return Response(orjson.dumps(match_document(match)), media_type=JSON)


def _no_match() -> Problem:
    return Problem("not-found", "There is no match with this id.")


def _not_now(error: NotNow) -> Problem:
    return Problem(_NOT_NOW[type(error)], _sentence(error))


def _faulty(slug: str, field: str, message: str) -> Problem:
    errors: list[FaultDocument] = [{"field": field, "message": message}]
    return Problem(slug, f"{field}: {message}.", errors=errors)


def _sentence(error: Exception) -> str:
    text = str(error)
    return f"{text[0].upper()}{text[1:]}."
