"""Tasks that must not end without a word."""

import asyncio
import logging
from collections.abc import Callable, Coroutine

AGAIN_SECONDS = 1.0


async def forever(
    run: Callable[[], Coroutine[object, object, None]], what: str, logger: logging.Logger
) -> None:
    """Run until cancelled: a fault in our own code is logged as one of `what`, and it starts again."""
    while True:
        try:
            await run()
        except Exception:
            logger.exception("%s failed; starting again", what)
            await asyncio.sleep(AGAIN_SECONDS)
