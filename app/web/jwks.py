"""The public keys of an identity provider, from its JWKS address (RFC 7517)."""

from __future__ import annotations

import asyncio
import logging
import math
import time
from typing import TYPE_CHECKING, Any, Self

import httpx
import jwt
import orjson

from app.download import DownloadFailed, download
from app.jwt_trust import KeysUnavailable

if TYPE_CHECKING:
    from collections.abc import Callable

log = logging.getLogger(__name__)

# Known keys are looked up again in the background once they are so many seconds old.
MAX_AGE = 300
# An unknown key is looked up at once, but no more often than this: anybody can make up key ids.
MIN_INTERVAL = 10
_TIMEOUT = 5
_MAX_BYTES = 256 * 1024
_SIGNING = ("RSA", "EC", "OKP")


class _UnusableKeys(Exception):
    """What the address answered is no key set."""


class KeySet:
    """The provider's keys, kept in memory; an asynchronous context manager.

    Proxies and certificates of the environment are used (`HTTPS_PROXY`, `SSL_CERT_FILE`), as an operator
    behind a proxy expects; redirects are not followed.

    Args:
        url: the JWKS address.
        clock: monotonic, seconds.
    """

    def __init__(self, url: str, clock: Callable[[], float] = time.monotonic) -> None:
        self._url = url
        self._clock = clock
        self._http = httpx.AsyncClient(timeout=_TIMEOUT)
        self._jwks: list[dict[str, Any]] = []
        self._ready: dict[tuple[str | None, str], jwt.PyJWK] = {}
        self._asked_at = -math.inf
        self._failed = False
        self._fetching: asyncio.Task[None] | None = None

    async def __aenter__(self) -> Self:
        return self

    async def __aexit__(self, *_: object) -> None:
        if self._fetching is not None:
            self._fetching.cancel()
            await asyncio.gather(self._fetching, return_exceptions=True)
        await self._http.aclose()

    async def key(self, key_id: str | None, algorithm: str) -> jwt.PyJWK | None:
        """The key with this id for this algorithm; without an id the only one that there is.

        A known key never waits for the network.

        Raises:
            KeysUnavailable: if the key is not known and the provider could not be asked.
        """
        found = self._find(key_id, algorithm)
        if found is not None:
            if self._clock() - self._asked_at >= MAX_AGE:
                self._fetch()
            return found
        if self._is_fetching() or self._clock() - self._asked_at >= MIN_INTERVAL:
            await asyncio.shield(self._fetch())
            found = self._find(key_id, algorithm)
        if found is None and self._failed:
            raise KeysUnavailable(MIN_INTERVAL)
        return found

    def _find(self, key_id: str | None, algorithm: str) -> jwt.PyJWK | None:
        ready = self._ready.get((key_id, algorithm))
        if ready is not None:
            return ready
        named = self._jwks if key_id is None else [jwk for jwk in self._jwks if jwk.get("kid") == key_id]
        if key_id is None and len(named) != 1:
            return None
        for jwk in named:
            if jwk.get("alg") in (None, algorithm):
                try:
                    key = jwt.PyJWK(jwk, algorithm)
                except jwt.PyJWTError:
                    continue  # a key of another type than the algorithm's
                self._ready[key_id, algorithm] = key
                return key
        return None

    def _is_fetching(self) -> bool:
        return self._fetching is not None and not self._fetching.done()

    def _fetch(self) -> asyncio.Task[None]:
        """The fetch that is under way, or a new one."""
        if self._fetching is None or self._fetching.done():
            self._asked_at = self._clock()
            self._fetching = asyncio.create_task(self._replace(), name="jwks")
        return self._fetching

    async def _replace(self) -> None:
        """Put the provider's keys of now in place of those known; keep these if they cannot be had."""
        try:
            body = await download(self._http, self._url, accept="application/json", limit=_MAX_BYTES)
            self._jwks = _signing_keys(body)
        except (DownloadFailed, _UnusableKeys) as error:
            self._failed = True
            log.error("the keys at %s cannot be had: %s", self._url, error)
            return
        self._failed = False
        self._ready.clear()


def _signing_keys(body: bytes) -> list[dict[str, Any]]:
    try:
        document = orjson.loads(body)
    except orjson.JSONDecodeError:
        raise _UnusableKeys("not JSON") from None
    keys = document.get("keys") if isinstance(document, dict) else None
    if not isinstance(keys, list):
        raise _UnusableKeys("no list of keys")
    return [
        key
        for key in keys
        if isinstance(key, dict) and key.get("kty") in _SIGNING and key.get("use") in (None, "sig")
    ]
