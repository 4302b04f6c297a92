"""Who is calling: API keys as bearer tokens (RFC 6750)."""

from __future__ import annotations

import hashlib
from typing import TYPE_CHECKING

from app.principal import Principal
from app.store.api_keys import find_key
from app.web.problems import Problem

if TYPE_CHECKING:
    from starlette.requests import Request

    from app.store.store import Store

_KEPT = 10_000


class Authenticator:
    """Finds the principal of a call.

    A key that was found once is remembered by its hash. That it is still good is checked where it counts, in
    the transaction that signs.
    """

    def __init__(self, store: Store) -> None:
        self._store = store
        self._known: dict[bytes, Principal] = {}

    def knows(self, header: str) -> bool:
        """Whether this Authorization header is an API key that was found before."""
        scheme, _, token = header.partition(" ")
        return scheme.lower() == "bearer" and _digest(token.strip()) in self._known

    async def principal(self, request: Request) -> Principal:
        """Who makes this call.

        Raises:
            Problem: 401 with a challenge, if nobody we know.
        """
        header = request.headers.get("authorization")
        if header is None:
            raise unauthenticated("No credentials were sent: send `Authorization: Bearer KEY`.")
        scheme, _, token = header.partition(" ")
        token = token.strip(" ")  # no more: str.strip would take characters that no key may have
        if scheme.lower() != "bearer" or not token or not token.isascii():
            raise unauthenticated("The Authorization header is malformed: send `Authorization: Bearer KEY`.")
        digest = _digest(token)
        known = self._known.get(digest)
        if known is not None:
            return known
        key = await self._store.read(lambda connection: find_key(connection, token))
        if key is None or key.revoked_at is not None:
            raise unauthenticated(
                "The API key is unknown or revoked: ask the operator for a key.", invalid=True
            )
        if len(self._known) >= _KEPT:
            self._known.clear()
        names = None if key.names is None else frozenset(key.names)
        principal = Principal(f"key:{key.id}", key.id, frozenset(key.scopes), names)
        self._known[digest] = principal
        return principal


def _digest(token: str) -> bytes:
    return hashlib.sha256(token.encode()).digest()


def unauthenticated(detail: str, *, invalid: bool = False) -> Problem:
    """A 401 with the challenge that tells clients how to authenticate."""
    challenge = 'Bearer realm="briscola-scores"' + (', error="invalid_token"' if invalid else "")
    return Problem("unauthenticated", detail, headers={"WWW-Authenticate": challenge})
