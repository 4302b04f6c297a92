"""Events that a relay calls replaced, until it is known by what.

The store knows a newer event: superseded. It knows none: a conflict, and the relay is asked what it holds.
Then a backup was restored, or another service signs with the same key; the store takes over what the relay
holds, so that the address goes on from there.
"""

import logging
from collections.abc import Callable

from app.delivery import answer
from app.delivery.intake import Intake
from app.delivery.model import Delivery, Outcome
from app.delivery.session import Reply
from app.delivery.status import Tally, about
from app.nostr.relay_url import public_relay_url

logger = logging.getLogger(__name__)


class Conflicts:
    """One relay's refusals that are not understood yet.

    Args:
        relay: The relay's URL.
        intake: The way to the store.
        tally: Where conflicts are counted.
        ask: Asks the relay what it holds, which comes back as another refusal; False if it cannot be asked.
        report: Takes each outcome.
        again: Takes a delivery whose refusal could not be looked into, and why.
    """

    def __init__(
        self,
        relay: str,
        intake: Intake,
        tally: Tally,
        *,
        ask: Callable[[Reply], bool],
        report: Callable[[Outcome], None],
        again: Callable[[Delivery, str], None],
    ) -> None:
        self._relay = relay
        self._intake = intake
        self._tally = tally
        self._ask = ask
        self._report = report
        self._again = again
        self._refusals: list[Reply] = []

    def __len__(self) -> int:
        return len(self._refusals)

    def add(self, refusal: Reply) -> None:
        """Have a refusal looked into."""
        self._refusals.append(refusal)

    async def resolve(self) -> None:
        """Look into the refusals, as far as the store answers."""
        while self._refusals and await self._resolve(self._refusals[0]):
            del self._refusals[0]

    async def _resolve(self, refusal: Reply) -> bool:
        """Whether the store has answered."""
        delivery = refusal.delivery
        newer = await self._intake.has_newer(delivery.event_id)
        if newer is None:
            return False
        if newer:
            self._report(answer.superseded(delivery, refusal.message))
        elif not refusal.asked:
            if not self._ask(refusal):
                self._again(delivery, f"{refusal.message} (and it could not be asked what it holds)")
        else:
            return await self._conclude(refusal)
        return True

    async def _conclude(self, refusal: Reply) -> bool:
        newest = refusal.newest
        taken = newest is not None and await self._intake.adopt(newest)
        if taken is None:
            return False
        self._tally.conflicts += 1
        outcome = answer.in_conflict(refusal.delivery, refusal.message, newest)
        logger.error(
            "%s: conflict over event %s at %s: %s; is another service signing with this key, "
            "or was a backup restored?%s",
            public_relay_url(self._relay),
            outcome.event_id,
            refusal.delivery.address,
            outcome.message,
            "" if taken or newest is None else " That event is too far ahead of the clock to go on from.",
            extra=about(self._relay, refusal.delivery),
        )
        self._report(outcome)
        return True
