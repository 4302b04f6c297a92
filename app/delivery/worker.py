"""One relay's worker: one long-lived connection, events pipelined into it, answers out of it.

What it holds is bounded, and everything it holds goes back to the outbox when the connection is lost.
"""

import asyncio
import logging
import math
from collections import OrderedDict
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass, replace

from app.delivery import answer
from app.delivery.backoff import Backoff, Random, delay
from app.delivery.connection import ConnectError, Connection, connect
from app.delivery.model import Delivery, DeliveryState, Outbox, Outcome
from app.delivery.session import Reply, Session, SignAuth

HELD_LIMIT = 2048
"""Deliveries in memory per relay: queued, in flight, or answered and not yet recorded."""

FIRST_WINDOW = 32
WINDOW_LIMIT = 512
POLL_SECONDS = 2.0
FLOOD_MESSAGES = 256
FLOOD_SECONDS = 0.0002
"""After a read with more than so many meaningless messages, the relay is not read for so long per message."""

logger = logging.getLogger(__name__)


@dataclass(frozen=True, slots=True)
class RelayStatus:
    """How delivery to one relay stands; counters run since the process started."""

    url: str
    connected: bool
    last_message: str
    last_error: str
    queued: int
    in_flight: int
    connects: int
    accepted: int
    rejected: int
    retried: int
    ignored: int


class Worker:
    """Delivers to one relay.

    Args:
        relay: The relay's URL.
        outbox: Where deliveries are claimed.
        report: Takes each outcome to be recorded; `recorded` is called back when it is.
        sign_auth: Makes the NIP-42 event for this relay's challenge.
        clock: Unix seconds.
        random: Jitter.
    """

    def __init__(
        self,
        relay: str,
        outbox: Outbox,
        report: Callable[[Outcome], None],
        *,
        sign_auth: SignAuth,
        clock: Callable[[], float],
        random: Random,
    ) -> None:
        self.relay = relay
        self._outbox = outbox
        self._report_outcome = report
        self._clock = clock
        self._random = random
        self._loop = asyncio.get_running_loop()
        self._session = Session(relay, sign_auth)
        self._connection: Connection | None = None
        self._queue: OrderedDict[str, Delivery] = OrderedDict()  # by event id, unsent
        self._addresses: dict[str, str] = {}  # address -> id of the queued event
        self._replaced: list[Outcome] = []  # conflicts until the store shows a newer event
        self._unrecorded = 0
        self._window = FIRST_WINDOW
        self._more = True  # the outbox may hold work for us
        self._due = 0.0  # unix seconds; when the outbox is to be asked again
        self._claim_failures = 0
        self._claim_not_before = 0.0
        self._wake = asyncio.Event()
        self._pumping = False
        self._stopping = False
        self._drained: asyncio.Future[None] = self._loop.create_future()
        self._last_error = ""
        self._connects = self._accepted = self._rejected = self._retried = 0

    # for the engine

    @property
    def accepting(self) -> bool:
        """Whether a new delivery would be taken from memory now."""
        return self._connection is not None and not self._stopping and self._held < HELD_LIMIT

    def offer(self, delivery: Delivery) -> None:
        """Take a delivery that this process holds; what cannot be taken is given back through the outbox."""
        now = self._clock()
        if not self.accepting:
            self._report(answer.unsent(delivery, "not sent: the relay is not connected or behind", due=now))
        elif delivery.event_id in self._queue or self._session.holds(delivery.event_id):
            return
        elif (sendable := answer.sendable_at(delivery)) > now:
            self._report(answer.unsent(delivery, "not sent: created_at is too far ahead", due=sendable))
        else:
            self._enqueue(delivery)
            if not self._pumping:  # deliveries of one loop iteration leave in one write
                self._pumping = True
                self._loop.call_soon(self._pump)

    def wake(self) -> None:
        """Look into the outbox as soon as there is room."""
        self._more = True
        self._wake_for_room()

    def recorded(self, outcome: Outcome) -> None:
        """Take note that an outcome is durable."""
        self._unrecorded -= 1
        if outcome.due is not None and outcome.due < self._due:
            self._due = outcome.due
            self._wake.set()
        self._wake_for_room()

    def stop(self) -> asyncio.Future[None]:
        """Send nothing new; the future is done when nothing waits for the relay's answer any more."""
        self._stopping = True
        self._give_back("not sent: the service stopped")
        self._note_drained()
        return self._drained

    def status(self) -> RelayStatus:
        """How delivery stands."""
        return RelayStatus(
            url=self.relay,
            connected=self._connection is not None,
            last_message=self._session.notice,
            last_error=self._last_error,
            queued=len(self._queue),
            in_flight=self._session.in_flight,
            connects=self._connects,
            accepted=self._accepted,
            rejected=self._rejected,
            retried=self._retried,
            ignored=self._session.ignored,
        )

    async def run(self) -> None:
        """Keep one connection to the relay, and deliver, until cancelled."""
        backoff = Backoff(self._random)
        while True:
            started = self._loop.time()
            try:
                connection = await connect(self.relay, self)
            except ConnectError as error:
                self._last_error = str(error)
                started = self._loop.time()
            else:
                await self._serve(connection)
            pause = backoff.after(self._loop.time() - started)
            logger.warning("%s: %s; connecting again in %.1f s", self.relay, self._last_error, pause)
            await asyncio.sleep(pause)

    # for the connection

    def received(self, messages: list[bytes]) -> None:
        """Take what the relay sent."""
        ignored = self._session.ignored
        replies = self._session.receive(messages, self._loop.time())
        if replies:
            now = self._clock()
            for reply in replies:
                self._settle(reply, now)
        flood = self._session.ignored - ignored
        if flood > FLOOD_MESSAGES and self._connection is not None:
            self._connection.throttle(flood * FLOOD_SECONDS)
        self._pump()
        self._wake_for_room()
        self._note_drained()

    def writable(self) -> None:
        """Send on after the relay caught up."""
        self._pump()

    # inside

    @property
    def _held(self) -> int:
        return len(self._queue) + self._session.in_flight + self._unrecorded + len(self._replaced)

    def _wake_for_room(self) -> None:
        if self._more and self._held <= HELD_LIMIT // 2:
            self._wake.set()

    def _note_drained(self) -> None:
        if self._stopping and not self._session.in_flight and not self._drained.done():
            self._drained.set_result(None)

    async def _serve(self, connection: Connection) -> None:
        """Deliver over an open connection until it is lost or this task is cancelled."""
        logger.info("%s: connected", self.relay)
        self._connection = connection
        self._connects += 1
        self._window = FIRST_WINDOW
        self._due = 0.0
        connection.lost.add_done_callback(lambda _: self._wake.set())
        try:
            while not connection.lost.done():
                self._wake.clear()
                await self._refill()
                await self._resolve_replaced()
                self._pump()
                await self._sleep()
                self._expire()
            self._last_error = connection.lost.result()
            await self._resolve_replaced()
        finally:
            self._connection = None
            connection.close()
            self._fail_in_flight()
            await connection.lost

    def _fail_in_flight(self) -> None:
        now, reason = self._clock(), f"connection lost: {self._last_error}"
        for delivery in self._session.lost():
            self._retried += 1
            self._report(answer.unanswered(delivery, reason, now=now, random=self._random))
        self._give_back("not sent: connection lost")
        self._note_drained()

    def _give_back(self, reason: str) -> None:
        now = self._clock()
        for delivery in self._queue.values():
            self._report(answer.unsent(delivery, reason, due=now))
        self._queue.clear()
        self._addresses.clear()

    async def _refill(self) -> None:
        """Claim deliveries when there is room and reason to."""
        now = self._clock()
        if now >= self._due:
            self._more = True
        room = HELD_LIMIT - self._held
        if not self._more or self._claim_wait() > 0:
            return
        # Set before the claim, so that a wake-up or an earlier due time during it is not lost.
        self._more = False
        self._due = now + POLL_SECONDS
        try:
            claimed = await self._outbox.claim(self.relay, now=now, limit=room)
        except Exception as error:  # noqa: BLE001 - whatever ails the store, delivery goes on when it is back
            self._more = True
            self._claim_failures += 1
            pause = delay(self._claim_failures, self._random)
            self._claim_not_before = self._loop.time() + pause
            logger.error("%s: nothing claimed, again in %.1f s: %r", self.relay, pause, error)
            return
        self._claim_failures = 0
        self._more = self._more or len(claimed) == room
        for delivery in claimed:
            self.offer(delivery)

    async def _resolve_replaced(self) -> None:
        """Decide between superseded and conflict, which only the store can."""
        while self._replaced:
            outcome = self._replaced[0]
            try:
                newer = await self._outbox.has_newer(outcome.event_id)
            except Exception as error:  # noqa: BLE001 - asked again with the next round
                logger.error("%s: no answer from the store: %r", self.relay, error)
                return
            del self._replaced[0]
            if newer:
                outcome = replace(outcome, state=DeliveryState.SUPERSEDED)
            else:
                logger.error("%s: conflict over event %s: %s", self.relay, outcome.event_id, outcome.message)
            self._report(outcome)

    def _claim_wait(self) -> float:
        """Seconds until the outbox may be asked; one that failed is left alone for a while."""
        if self._stopping or self._held > HELD_LIMIT // 2:
            return math.inf
        return max(self._claim_not_before - self._loop.time(), 0.0)

    async def _sleep(self) -> None:
        """Until woken, the next deadline, or the next look into the outbox."""
        seconds = max(self._due - self._clock(), self._claim_wait())
        if (deadline := self._session.next_deadline) is not None:
            seconds = min(seconds, deadline - self._loop.time())
        with suppress(TimeoutError):
            async with asyncio.timeout(min(seconds, POLL_SECONDS)):
                await self._wake.wait()

    def _expire(self) -> None:
        overdue = self._session.expire(self._loop.time())
        if overdue:
            self._window = max(1, self._window // 2)
            self._retried += len(overdue)
            now = self._clock()
            for delivery in overdue:
                self._report(answer.unanswered(delivery, "no answer", now=now, random=self._random))

    def _enqueue(self, delivery: Delivery) -> None:
        """Queue a delivery; of two for one address only the newer is worth sending."""
        rival_id = self._addresses.get(delivery.address)
        if rival_id is not None:
            rival = self._queue[rival_id]
            if rival.created_at > delivery.created_at:
                self._report(answer.overtaken(delivery))
                return
            self._dequeue(rival_id)
            self._report(answer.overtaken(rival))
        self._queue[delivery.event_id] = delivery
        self._addresses[delivery.address] = delivery.event_id

    def _dequeue(self, event_id: str) -> None:
        if (delivery := self._queue.pop(event_id, None)) is not None:
            del self._addresses[delivery.address]

    def _pump(self) -> None:
        """Send what waits, as far as the window and the relay's reading allow."""
        self._pumping = False
        connection, session, queue = self._connection, self._session, self._queue
        if connection is None:
            return
        messages = session.outgoing
        session.outgoing = []
        room = self._window - session.in_flight if connection.ready and connection.is_open else 0
        now = self._loop.time()
        while room > 0 and queue:
            _, delivery = queue.popitem(last=False)
            del self._addresses[delivery.address]
            messages.append(session.send(delivery, now))
            room -= 1
        if messages:
            connection.send(messages)

    def _settle(self, reply: Reply, now: float) -> None:
        """Turn the relay's answer into an outcome."""
        outcome = answer.answered(reply.delivery, reply.accepted, reply.message, now=now, random=self._random)
        if outcome.state is DeliveryState.ACCEPTED:
            self._accepted += 1
            self._window = min(self._window + 1, WINDOW_LIMIT)
        elif outcome.state is DeliveryState.REJECTED:
            self._rejected += 1
            logger.info("%s: rejected event %s: %s", self.relay, outcome.event_id, outcome.message)
        elif outcome.state is DeliveryState.CONFLICT:
            self._replaced.append(outcome)
            self._wake.set()
        elif reply.late:
            return  # it is pending already
        else:
            self._retried += 1
            self._window = max(1, self._window // 2)
        if reply.late:
            self._dequeue(outcome.event_id)
        if outcome.state is not DeliveryState.CONFLICT:
            self._report(outcome)

    def _report(self, outcome: Outcome) -> None:
        self._unrecorded += 1
        self._report_outcome(outcome)
