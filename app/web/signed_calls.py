"""Callers who sign the call itself with their Nostr key (NIP-98)."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.nostr.nip98 import check_call, check_payload, read_token
from app.principal import Principal
from app.store.seen_tokens import Token
from app.web.body import read_raw

if TYPE_CHECKING:
    from collections.abc import Callable

    from starlette.requests import Request

    from app.store.seen_tokens import SeenTokens
    from app.store.store import Store

_READING = frozenset({"GET", "HEAD"})


class SignedCalls:
    """Finds the principal of a signed call.

    Args:
        seen: the memory of used tokens, in the store.
        public_url: what clients call this service by; no header of the call is asked.
        clock: wall clock, unix seconds.
    """

    def __init__(self, store: Store, seen: SeenTokens, public_url: str, clock: Callable[[], float]) -> None:
        self._store = store
        self._seen = seen
        self._public_url = public_url
        self._clock = clock

    async def principal(self, request: Request, token: str) -> Principal:
        """Whose signature this is, on exactly this call; a call that changes anything uses the token up.

        Raises:
            InvalidToken: the token does not sign this call.
            TokenUsed: it has signed one before.
            Problem: 413 for a body that is too large to be hashed.
            StoreUnavailable: it cannot be known whether the token was used.
        """
        event = read_token(token)
        check_call(event, method=request.method, url=self._called_url(request), now=self._clock())
        check_payload(event, await read_raw(request))
        if request.method not in _READING:
            await self._store.write(self._seen.use, Token(event.sig, event.created_at))
        return Principal(f"nostr:{event.pubkey}")

    def _called_url(self, request: Request) -> str:
        """The address as the client wrote it: path and query in the very bytes that came."""
        path = request.scope["raw_path"].decode("latin-1")
        query = request.scope["query_string"].decode("latin-1")
        return f"{self._public_url}{path}?{query}" if query else f"{self._public_url}{path}"
