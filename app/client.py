"""A client of the service, for game servers and game clients in Python.

    async with Client("https://scores.example", api_key=KEY) as client:
        score = await client.publish("alice", 72, wait=10)

Calls fail with a ClientError; `app.client_errors` draws the tree.
"""

from __future__ import annotations

import asyncio
import json
import random
import re
import uuid
from typing import TYPE_CHECKING, Any, Self, TypeVar
from urllib.parse import quote, urlencode

import httpx
import orjson

from app.client_answers import read_board, read_receipt
from app.client_auth import Bearer, SignedCalls
from app.client_errors import ClientError, Refused, UnexpectedAnswer, Unreachable, refused_by, unreachable
from app.nostr.keys import SecretKey

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.client_answers import Board, Receipt

__all__ = ["Client", "ClientError", "Refused", "UnexpectedAnswer", "Unreachable"]

T = TypeVar("T")

MAX_WAIT = 30  # the longest that the service waits for the relays, in seconds
ATTEMPTS = 3
_TIMEOUT = 10
_LONGEST_PAUSE = 5.0
_IDEMPOTENCY_KEY = re.compile(r"[!-~]{1,255}")
# A gateway's or the service's own "not now": nothing of the call was done, or its repetition changes nothing.
_PASSING = frozenset({502, 503, 504})


class Client:
    """Calls one service; an asynchronous context manager.

    Calls are tried up to ATTEMPTS times where repeating them is safe: `publish` sends one `Idempotency-Key`
    with all its attempts. Proxies and certificates of the environment are used, redirects are not followed.

    Args:
        url: the service's public address, with its path if it has one.
        api_key: an API key, or a token of the service's identity provider.
        player_key: the player's own secret key (hex, nsec or a SecretKey), which signs each call (NIP-98) and
            is never sent. Without either only reading is possible.

    Raises:
        ValueError: both keys, a key that is none, or an address that is none.
    """

    def __init__(
        self, url: str, *, api_key: str | None = None, player_key: SecretKey | str | None = None
    ) -> None:
        if api_key is not None and player_key is not None:
            raise ValueError("give api_key or player_key, not both")
        self._auth: httpx.Auth | None = None
        if api_key is not None:
            self._auth = Bearer(api_key)
        elif player_key is not None:
            self._auth = SignedCalls(
                player_key if isinstance(player_key, SecretKey) else SecretKey.parse(player_key)
            )
        self._url = _base_of(url)
        self._http = httpx.AsyncClient(timeout=_TIMEOUT, headers={"Accept": "application/json"})

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        await self._http.aclose()

    async def publish(
        self, username: str, score: int, *, wait: int = 0, idempotency_key: str | None = None
    ) -> Receipt:
        """Publish a score.

        Args:
            username: the player's name.
            score: card points, 0 to 120.
            wait: seconds for which the service waits for its relays first, MAX_WAIT at most.
            idempotency_key: names this score, so that publishing it again publishes nothing; by default each
                call is a score of its own.

        Raises:
            ClientError: see `app.client_errors`.
            ValueError: an idempotency key that is not 1 to 255 visible ASCII characters.
        """
        key = str(uuid.uuid4()) if idempotency_key is None else idempotency_key
        if not _IDEMPOTENCY_KEY.fullmatch(key):
            raise ValueError("the idempotency key is none: give 1 to 255 visible ASCII characters")
        headers = {"Idempotency-Key": key}
        body = {"username": username, "score": score}
        return _read(
            read_receipt, await self.call("POST", "/v1/scores", body=body, headers=headers, wait=wait)
        )

    async def score(self, event_id: str) -> Receipt:
        """The score event with this id, as it stands now.

        Raises:
            ClientError: Refused with the slug `not-found` if there is none; see `app.client_errors`.
        """
        return _read(read_receipt, await self.call("GET", f"/v1/scores/{_segment(event_id)}"))

    async def player(self, username: str) -> Receipt:
        """A player's latest score, by any spelling of the name.

        Raises:
            ClientError: Refused with the slug `not-found` if there is none; see `app.client_errors`.
        """
        return _read(read_receipt, await self.call("GET", f"/v1/players/{_segment(username)}"))

    async def leaderboard(
        self,
        *,
        limit: int = 50,
        cursor: str | None = None,
        since: int | str | None = None,
        until: int | None = None,
        around: str | None = None,
    ) -> Board:
        """A part of the board.

        Args:
            limit: rows at most, 500 at most.
            cursor: `next` of another part, for the rows behind it.
            since: unix seconds, or `day` or `week`.
            until: unix seconds.
            around: a player's name, for the rows around theirs.

        Raises:
            ClientError: Refused with the slug `invalid-query` or `not-found`; see `app.client_errors`.
        """
        asked = {"limit": limit, "cursor": cursor, "since": since, "until": until, "around": around}
        query = urlencode({name: value for name, value in asked.items() if value is not None})
        body = await self.call("GET", f"/v1/leaderboard?{query}")
        return _read(read_board, body)

    async def board_row(self, username: str) -> dict[str, Any] | None:
        """A player's row of the leaderboard, as GET /v1/leaderboard has it; None if there is none.

        Raises:
            ClientError: see `app.client_errors`.
        """
        try:
            answer = await self.call("GET", f"/v1/leaderboard?limit=1&around={_segment(username)}")
            (row,) = orjson.loads(answer)["entries"]
        except Refused as refused:
            if refused.slug == "not-found":
                return None
            raise
        except (orjson.JSONDecodeError, KeyError, TypeError, ValueError):
            raise UnexpectedAnswer("the answer is no board: is this the address of the service?") from None
        return dict(row)

    async def delete(self, username: str, *, wait: int = 0) -> Receipt:
        """Delete a player's score; `wait` as for `publish`.

        Raises:
            ClientError: see `app.client_errors`.
        """
        path = f"/v1/players/{_segment(username)}/score"
        return _read(read_receipt, await self.call("DELETE", path, wait=wait, repeatable=False))

    async def call(
        self,
        method: str,
        path: str,
        *,
        body: dict[str, Any] | None = None,
        headers: dict[str, str] | None = None,
        wait: int = 0,
        repeatable: bool = True,
        auth: httpx.Auth | None = None,
    ) -> bytes:
        """The body of a good answer to any call, after as many attempts as are safe.

        Args:
            repeatable: whether the call may be made again when no answer came.
            auth: who is calling, if it is not whom the client was made for.

        Raises:
            ClientError: see `app.client_errors`.
        """
        headers = dict(headers or {})
        if body is not None:
            headers["Content-Type"] = "application/json"
        if wait:
            headers["Prefer"] = f"wait={min(wait, MAX_WAIT)}"
        # What no JSON should hold, a lone surrogate or a huge number, is for the service to refuse.
        content = None if body is None else json.dumps(body).encode()
        timeout = httpx.Timeout(_TIMEOUT, read=_TIMEOUT + min(wait, MAX_WAIT))
        attempt = 0
        while True:
            attempt += 1
            # Built anew each time: a signature counts once.
            request = self._http.build_request(
                method, self._url + path, content=content, headers=headers, timeout=timeout
            )
            try:
                response = await self._http.send(request, auth=auth or self._auth)
            except (httpx.ConnectError, httpx.ConnectTimeout) as error:
                fault: ClientError = unreachable(self._url, error)  # nothing was sent
            except httpx.DecodingError:
                raise UnexpectedAnswer(f"{request.url} answered with broken compression") from None
            except httpx.TransportError as error:
                fault = unreachable(self._url, error)
                if not repeatable:
                    raise fault from None
            else:
                if response.is_success:
                    return response.content
                fault = refused_by(response)
                if response.status_code not in _PASSING or not repeatable:
                    raise fault
            if attempt == ATTEMPTS:
                raise fault
            await asyncio.sleep(_pause(attempt, fault))


def _base_of(url: str) -> str:
    try:
        parts = httpx.URL(url)
    except httpx.InvalidURL:
        parts = httpx.URL("")
    right = parts.scheme in {"http", "https"} and parts.host and (parts.port or 0) < 2**16
    if not right or parts.query or parts.fragment:
        raise ValueError("the address of the service is none: give one such as https://scores.example")
    if parts.userinfo:
        raise ValueError("the address of the service carries a user name: drop it")
    return str(parts).rstrip("/")


def _segment(text: str) -> str:
    """A text as one part of a path, whatever is in it."""
    return quote(text, safe="", errors="surrogatepass")


def _pause(attempt: int, fault: ClientError) -> float:
    """Seconds before the next attempt: growing, jittered, and as long as the service asks within reason."""
    asked = fault.retry_after if isinstance(fault, Refused) else None
    return min(asked or 0.25 * 2**attempt * random.uniform(0.5, 1), _LONGEST_PAUSE)  # noqa: S311 - no secret


def _read(read: Callable[[bytes], T], body: bytes) -> T:
    try:
        return read(body)
    except (ValueError, KeyError, TypeError):
        raise UnexpectedAnswer(
            "the answer is none of this service's: is this the address of the service?"
        ) from None
