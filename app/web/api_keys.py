"""Callers with an API key, sent as a bearer token (RFC 6750)."""

from __future__ import annotations

import hashlib
import time
from typing import TYPE_CHECKING

from app.principal import KEY, Principal
from app.store.api_keys import find_key

if TYPE_CHECKING:
    from collections.abc import Callable

    from app.store.store import Store

_KEPT = 10_000
# Seconds after which a known key is looked up again, so that a revoked one is told at the door from then on.
LOOK_AGAIN = 60


class ApiKeyCallers:
    """Finds the principal of an API key.

    A key that was found once is remembered by its hash. That it is still good is checked where it counts, in
    the transaction that signs.

    Args:
        clock: monotonic, seconds.
    """

    def __init__(self, store: Store, clock: Callable[[], float] = time.monotonic) -> None:
        self._store = store
        self._clock = clock
        self._known: dict[bytes, tuple[Principal, float]] = {}  # and when it was looked up

    def knows(self, key: str) -> bool:
        """Whether this key was found before, and good when it was last looked up."""
        return _digest(key) in self._known

    async def principal(self, key: str) -> Principal | None:
        """Whose key this is; None if it is unknown or revoked."""
        digest = _digest(key)
        known = self._known.get(digest)
        now = self._clock()
        if known is not None and now < known[1] + LOOK_AGAIN:
            return known[0]
        found = await self._store.read(lambda connection: find_key(connection, key))
        if found is None or found.revoked_at is not None:
            self._known.pop(digest, None)
            return None
        if len(self._known) >= _KEPT:
            self._known.clear()
        names = None if found.names is None else frozenset(found.names)
        principal = Principal(f"{KEY}{found.id}", found.id, frozenset(found.scopes), names)
        self._known[digest] = principal, now
        return principal


def _digest(key: str) -> bytes:
    return hashlib.sha256(key.encode()).digest()
