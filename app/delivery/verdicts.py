"""What a relay's answers and its silence come to: outcomes reported and counted, and the pace set by them."""

import logging
from collections.abc import Callable

from app.delivery import answer
from app.delivery.backoff import Random
from app.delivery.model import Delivery, DeliveryState, Outcome
from app.delivery.pace import Pace
from app.delivery.session import Reply
from app.delivery.status import Tally, about
from app.nostr.message import split_prefix
from app.nostr.relay_url import public_relay_url

logger = logging.getLogger(__name__)


class Verdicts:
    """One relay's verdicts on deliveries.

    Args:
        relay: The relay's URL.
        tally: Where they are counted.
        pace: What they quicken or slow down.
        report: Takes each outcome.
        conflict: Takes an answer that is not understood yet: the relay calls the event replaced.
        clock: Unix seconds.
        monotonic: The seconds that the pace goes by.
        random: Jitter.
    """

    def __init__(
        self,
        relay: str,
        tally: Tally,
        pace: Pace,
        *,
        report: Callable[[Outcome], None],
        conflict: Callable[[Reply], None],
        clock: Callable[[], float],
        monotonic: Callable[[], float],
        random: Random,
    ) -> None:
        self._relay = relay
        self._tally = tally
        self._pace = pace
        self._report = report
        self._conflict = conflict
        self._clock = clock
        self._monotonic = monotonic
        self._random = random

    def answered(self, reply: Reply) -> bool:
        """Report what an answer makes of its delivery; False if it came late and changes nothing."""
        outcome = answer.answered(
            reply.delivery, reply.accepted, reply.message, now=self._clock(), random=self._random
        )
        match outcome.state:
            case DeliveryState.ACCEPTED:
                self._tally.accepted += 1
                self._pace.accepted()
            case DeliveryState.REJECTED:
                self._tally.rejected += 1
                self._log_rejected(outcome, reply.delivery)
            case DeliveryState.CONFLICT:
                self._conflict(reply)
                return True
            case _ if reply.late:
                return False  # it is pending already
            case _:
                self._tally.retried += 1
                self._pace.in_vain()
                if split_prefix(reply.message)[0] == "rate-limited":
                    self._pace.rate_limited(self._monotonic())
        self._report(outcome)
        return True

    def unanswered(self, delivery: Delivery, reason: str) -> None:
        """Report an attempt that came to nothing."""
        self._tally.retried += 1
        self._report(answer.unanswered(delivery, reason, now=self._clock(), random=self._random))

    def _log_rejected(self, outcome: Outcome, delivery: Delivery) -> None:
        logger.info(
            "%s: rejected event %s: %s",
            public_relay_url(self._relay),
            outcome.event_id,
            outcome.message,
            extra=about(self._relay, delivery),
        )
