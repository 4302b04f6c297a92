"""What a relay says of its limits (NIP-11), asked beside delivery and never waited for.

Nothing is rejected on the document's word alone: it delays what is ahead of the clock, and people see it.
"""

import asyncio
import logging
import math
from collections.abc import Awaitable, Callable

from app.delivery.model import Delivery
from app.delivery.status import about
from app.nostr.message import event_message
from app.nostr.nip11 import Limitation
from app.nostr.relay_url import public_relay_url

AHEAD_SECONDS = 900
"""How far `created_at` may be ahead of the clock when an event is sent to a relay whose limit is unknown."""

FRESH_SECONDS = 3600
LONGEST_SCORE = 1024
"""No message that carries a score is longer, in bytes: a name takes 128 at most, and stands in it thrice."""

AskLimits = Callable[[str], Awaitable[Limitation]]
"""Gets the limits of the relay with this URL; raises NoLimits if it does not tell them."""

logger = logging.getLogger(__name__)


class NoLimits(Exception):
    """The relay does not tell its limits; the message says why."""


class Limits:
    """One relay's limits as last told, asked for again once they are an hour old.

    Attributes:
        told: The limits.
        concerns: Why this relay may not take scores, in sentences.
    """

    def __init__(self, relay: str, ask: AskLimits | None) -> None:
        self.told = Limitation()
        self.concerns: tuple[str, ...] = ()
        self._relay = relay
        self._shown = public_relay_url(relay)
        self._ask = ask
        self._asked_at = -math.inf
        self._asking: asyncio.Task[None] | None = None

    def sendable_at(self, delivery: Delivery) -> int:
        """Unix seconds from which the relay may be expected to take the event's `created_at`."""
        limit = self.told.created_at_upper_limit
        return delivery.created_at - (AHEAD_SECONDS if limit is None else limit)

    def silence(self, delivery: Delivery) -> str:
        """What to make of it that the relay does not answer for this delivery."""
        limit, length = self.told.max_message_length, len(event_message(delivery.payload).encode())
        if limit is not None and length > limit:
            return (
                f"no answer; it takes messages of {limit} bytes (max_message_length), and this has {length}"
            )
        return "no answer"

    def refresh(self) -> None:
        """Ask in the background, unless that was done within the hour."""
        now = asyncio.get_running_loop().time()
        if self._ask is not None and now - self._asked_at >= FRESH_SECONDS:
            self._asked_at = now
            self._asking = asyncio.create_task(self._refresh(self._ask), name=f"limits of {self._shown}")

    def stop(self) -> None:
        """Ask no longer."""
        self._ask = None
        if self._asking is not None:
            self._asking.cancel()

    async def _refresh(self, ask: AskLimits) -> None:
        try:
            self.told = await ask(self._relay)
        except NoLimits as reason:
            logger.debug("%s: its limits are unknown: %s", self._shown, reason, extra=about(self._relay))
            return
        concerns = concerns_of(self.told)
        for concern in concerns:
            if concern not in self.concerns:
                logger.warning("%s: the relay %s", self._shown, concern, extra=about(self._relay))
        self.concerns = concerns


def concerns_of(told: Limitation) -> tuple[str, ...]:
    """Why a relay with these limits may not take scores, each to be read after "the relay"."""
    concerns = []
    if told.payment_required:
        concerns.append("asks for payment (payment_required): it may refuse events until this key has paid")
    if told.min_pow_difficulty:
        concerns.append(
            f"asks for proof of work (min_pow_difficulty {told.min_pow_difficulty}): none is done here"
        )
    if told.max_message_length is not None and told.max_message_length < LONGEST_SCORE:
        concerns.append(
            f"takes messages of {told.max_message_length} bytes at most (max_message_length): "
            f"a score of a long name takes up to {LONGEST_SCORE}"
        )
    return tuple(concerns)
