"""Counters of calls, shared through Redis or kept in this process."""

from __future__ import annotations

import logging
import math
import time
from typing import TYPE_CHECKING, Any

from limits.aio.strategies import FixedWindowRateLimiter
from limits.errors import StorageError

from app.web.local_counters import LocalCounters

if TYPE_CHECKING:
    from collections.abc import Callable, Sequence

    from limits import RateLimitItem
    from limits.aio.storage import RedisStorage
    from redis.asyncio import BlockingConnectionPool

log = logging.getLogger(__name__)

_SECONDS = 0.25  # for Redis to answer
_CONNECTIONS = 16
_PAUSE = 5.0  # between two looks at a Redis that is away


class Counters:
    """Counts calls in Redis, or in this process while Redis does not answer.

    Scores must not stop because a counter is away, so a process then counts for itself: at worst somebody
    gets the rate from each replica.

    Args:
        storage: `memory` to count in this process alone, or a Redis address.
        clock: seconds that never step back.
    """

    def __init__(self, storage: str = "memory", clock: Callable[[], float] = time.monotonic) -> None:
        self._clock = clock
        self._local = LocalCounters(clock)
        self._pool = None if storage == "memory" else _pool(storage)
        self._shared = None if self._pool is None else FixedWindowRateLimiter(_redis(self._pool))
        self._away = False
        self._look_at = -math.inf

    async def hit(self, rates: Sequence[RateLimitItem], *who: str) -> int | None:
        """Count one call.

        Returns:
            None if it is within every rate, else in how many seconds the next one may be.
        """
        if self._shared is not None and (not self._away or self._clock() >= self._look_at):
            self._look_at = self._clock() + _PAUSE
            try:
                wait = await _hit(self._shared, rates, who)
            except (StorageError, OSError) as error:
                if not self._away:
                    self._away = True
                    log.error("Redis does not answer, so this process counts calls alone: %s", error)
            else:
                if self._away:
                    self._away = False
                    log.warning("Redis answers again")
                return wait
        for rate in rates:
            if (seconds := self._local.hit(rate, who)) is not None:
                return math.ceil(seconds)
        return None

    async def close(self) -> None:
        """Close what is connected."""
        if self._pool is not None:
            await self._pool.aclose()


async def _hit(
    strategy: FixedWindowRateLimiter, rates: Sequence[RateLimitItem], who: tuple[str, ...]
) -> int | None:
    for rate in rates:
        if not await strategy.hit(rate, *who):
            ends = (await strategy.get_window_stats(rate, *who)).reset_time
            return max(1, math.ceil(ends - time.time()))
    return None


def _pool(url: str) -> BlockingConnectionPool:
    from redis.asyncio import BlockingConnectionPool
    from redis.asyncio.retry import Retry
    from redis.backoff import NoBackoff

    return BlockingConnectionPool.from_url(
        url,
        max_connections=_CONNECTIONS,
        timeout=_SECONDS,
        socket_timeout=_SECONDS,
        socket_connect_timeout=_SECONDS,
        retry=Retry(NoBackoff(), 1),  # a kept connection may be dead where Redis is not
    )


def _redis(pool: BlockingConnectionPool) -> RedisStorage:
    from limits.aio.storage import RedisStorage

    # The pool knows the address; the options are passed on as they are, whatever their annotation says.
    options: dict[str, Any] = {"implementation": "redispy", "connection_pool": pool}
    return RedisStorage("async+redis://", wrap_exceptions=True, key_prefix="briscola-scores", **options)
