"""How the client says who is calling."""

from __future__ import annotations

import time
from typing import TYPE_CHECKING

import httpx

from app.nostr.nip98 import SCHEME, sign_call

if TYPE_CHECKING:
    from collections.abc import Generator

    from app.nostr.keys import SecretKey


class Bearer(httpx.Auth):
    """A key that goes with each call.

    Raises:
        ValueError: a text that is no key.
    """

    def __init__(self, key: str) -> None:
        if not key.isascii() or not key.isprintable() or not key.strip():
            raise ValueError("the API key is empty or has characters that no key has: copy it again")
        self._header = f"Bearer {key.strip()}"

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Put the credentials on a call; httpx asks for them."""
        request.headers["Authorization"] = self._header
        yield request


class SignedCalls(httpx.Auth):
    """A key that signs each call (NIP-98) and is never sent."""

    requires_request_body = True

    def __init__(self, secret: SecretKey) -> None:
        self._secret = secret

    def auth_flow(self, request: httpx.Request) -> Generator[httpx.Request, httpx.Response, None]:
        """Put the credentials on a call; httpx asks for them."""
        token = sign_call(
            self._secret,
            method=request.method,
            url=str(request.url),
            body=request.content,
            created_at=int(time.time()),
        )
        request.headers["Authorization"] = f"{SCHEME} {token}"
        yield request
