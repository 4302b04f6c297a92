"""The deliveries that one relay's worker has in memory: queued, in flight, or answered and not yet recorded.

They are bounded, and what was not sent goes back to the outbox when the connection is lost.
"""

from collections.abc import Callable

from app.delivery import answer
from app.delivery.model import Delivery, Outcome
from app.delivery.queue import Queue
from app.delivery.session import Session

LIMIT = 4096


class Held:
    """Counts deliveries from when they are taken until their outcome is recorded.

    Args:
        session: Holds those in flight.
        report: Takes the outcome of those that are not sent.

    Attributes:
        queue: Those that wait to be sent.
    """

    def __init__(self, session: Session, report: Callable[[Outcome], None]) -> None:
        self.queue = Queue()
        self._session = session
        self._report = report
        self._late: set[str] = set()  # events answered late, until that is recorded
        self._count = 0

    def __contains__(self, event_id: str) -> bool:
        return event_id in self.queue or event_id in self._late or self._session.holds(event_id)

    @property
    def room(self) -> int:
        """How many more may be taken."""
        return LIMIT - self._count

    @property
    def wants_more(self) -> bool:
        """Whether there is room enough to claim anew: half of it."""
        return self._count <= LIMIT // 2

    def take(self) -> None:
        """One more, whose outcome is to be recorded."""
        self._count += 1

    def enqueue(self, delivery: Delivery) -> None:
        """Have one that was taken wait to be sent; the older of two for one address is overtaken."""
        if (overtaken := self.queue.push(delivery)) is not None:
            self._report(answer.overtaken(overtaken))

    def answered_late(self, event_id: str) -> None:
        """Hold what was given back, for its answer came after all; it is not to be sent again."""
        if not self.queue.discard(event_id):
            self._count += 1
        self._late.add(event_id)

    def recorded(self, event_id: str) -> None:
        """An outcome is durable."""
        self._count -= 1
        self._late.discard(event_id)

    def give_back(self, reason: str, due: float) -> None:
        """Have what waits to be sent go back to the outbox, due at unix seconds `due`."""
        for delivery in self.queue.drain():
            self._report(answer.unsent(delivery, reason, due=due))
