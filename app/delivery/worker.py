"""One relay's worker: one long-lived connection, events pipelined into it, answers out of it."""

import asyncio
import logging
import math
from collections.abc import Callable
from contextlib import suppress
from dataclasses import replace
from itertools import chain
from operator import attrgetter

from app.delivery import answer
from app.delivery.authentication import SignAuth
from app.delivery.backoff import Random
from app.delivery.conflicts import Conflicts
from app.delivery.connection import Connection
from app.delivery.flood import Flood
from app.delivery.held import Held
from app.delivery.intake import POLL_SECONDS, Intake
from app.delivery.limits import AskLimits, Limits
from app.delivery.model import Delivery, DeliveryState, Outbox, Outcome
from app.delivery.pace import Pace
from app.delivery.reconnect import keep_connected
from app.delivery.session import Reply, Session
from app.delivery.status import RelayStatus, Tally, about
from app.delivery.verdicts import Verdicts
from app.nostr.relay_url import public_relay_url

logger = logging.getLogger(__name__)


class Worker:
    """Delivers to one relay.

    Args:
        relay: The relay's URL.
        outbox: Where deliveries are claimed.
        report: Takes each outcome to be recorded; `recorded` is called back when it is.
        sign_auth: Makes the NIP-42 event for this relay's challenge.
        ask_limits: Gets the relay's limits (NIP-11); None to go by none.
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
        ask_limits: AskLimits | None,
        clock: Callable[[], float],
        random: Random,
    ) -> None:
        self.relay = relay
        self._report = report
        self._clock = clock
        self._random = random
        self._loop = asyncio.get_running_loop()
        self._session = Session(relay, sign_auth)
        self._connection: Connection | None = None
        self._flood = Flood()
        self._limits = Limits(relay, ask_limits)
        self._intake = Intake(relay, outbox, clock=clock, random=random)
        self._held = Held(self._session, report)
        self._tally = Tally()
        self._pace = Pace(random)
        self._verdicts = Verdicts(
            relay,
            self._tally,
            self._pace,
            report=report,
            conflict=self._conflict,
            clock=clock,
            monotonic=self._loop.time,
            random=random,
        )
        self._conflicts = Conflicts(
            relay,
            self._intake,
            self._tally,
            ask=self._ask,
            report=report,
            again=self._verdicts.unanswered,
        )
        self._wake = asyncio.Event()
        self._pumping = False
        self._stopping = False
        self._drained: asyncio.Future[None] = self._loop.create_future()
        self._last_error = ""

    # for the engine

    @property
    def accepting(self) -> bool:
        """Whether a new delivery would be taken from memory now."""
        return (
            self._connection is not None
            and not self._stopping
            and self._held.room > 0
            and not self._pace.pause(self._loop.time())
        )

    def offer(self, delivery: Delivery) -> None:
        """Take a delivery that this process holds; what cannot be taken is given back through the outbox."""
        if delivery.event_id in self._held:
            return
        accepting = self.accepting
        self._held.take()
        now = self._clock()
        if not accepting:
            due = now + self._pace.pause(self._loop.time())
            self._report(answer.unsent(delivery, "not sent: the relay is not connected or behind", due=due))
        elif (sendable := self._limits.sendable_at(delivery)) > now:
            self._report(answer.unsent(delivery, "not sent: created_at is too far ahead", due=sendable))
        else:
            self._held.enqueue(delivery)
            if not self._pumping:  # deliveries of one loop iteration leave in one write
                self._pumping = True
                self._loop.call_soon(self._pump)

    def wake(self) -> None:
        """Look into the outbox as soon as there is room."""
        self._intake.due_by(0.0)
        self._wake.set()

    def gave_up(self, count: int) -> None:
        """Count deliveries that were given up without an attempt."""
        self._tally.failed += count

    def recorded(self, outcome: Outcome) -> None:
        """Take note that an outcome is durable."""
        if outcome.state is DeliveryState.FAILED:
            self._tally.failed += 1
        self._held.recorded(outcome.event_id)
        if outcome.due is not None and self._intake.due_by(outcome.due):
            self._wake.set()
        self._wake_for_room()

    def stop(self) -> asyncio.Future[None]:
        """Send nothing new; the future is done when nothing waits for the relay's answer any more."""
        self._stopping = True
        self._limits.stop()
        self._held.give_back("not sent: the service stopped", self._clock())
        self._note_drained()
        return self._drained

    def status(self) -> RelayStatus:
        """How delivery stands."""
        session, queue = self._session, self._held.queue
        refusal = (f"refuses us: {session.auth_refused}",) if session.auth_refused else ()
        return RelayStatus(
            url=self.relay,
            connected=self._connection is not None,
            last_message=session.notice,
            last_error=self._last_error,
            concerns=self._limits.concerns + refusal,
            queued=len(queue),
            in_flight=session.in_flight,
            oldest=min(map(attrgetter("created_at"), chain(queue, session)), default=None),
            ignored=session.ignored,
            tally=replace(self._tally),
        )

    async def run(self) -> None:
        """Keep one connection to the relay, and deliver, until cancelled."""
        self._limits.refresh()
        await keep_connected(self.relay, self, self._random)

    # for the connection

    async def use(self, connection: Connection) -> str:
        """Deliver over an open connection until it is lost or this task is cancelled."""
        logger.info("%s: connected", public_relay_url(self.relay), extra=about(self.relay))
        self._connection = connection
        self._tally.connects += 1
        self._pace.reconnected()
        self._intake.due_by(0.0)
        connection.lost.add_done_callback(lambda _: self._wake.set())
        reason = "the service stopped"
        try:
            while not connection.lost.done():
                self._wake.clear()
                self._limits.refresh()
                await self._refill()
                await self._intake.reached(connected=True)
                await self._resolve_conflicts()
                self._pump()
                await self._sleep()
                self._expire()
            reason = connection.lost.result()
            await self._resolve_conflicts()
        finally:
            self._connection = None
            self._fail_in_flight(reason)
        return reason

    async def parted(self, reason: str, *, connected: bool) -> None:
        """Say why there is no connection; that none came about is for the store to know."""
        self._last_error = reason
        if not connected:
            await self._intake.reached(connected=False)

    def received(self, messages: list[bytes]) -> None:
        """Take what the relay sent."""
        at = self._loop.time()
        replies = self._session.receive(messages, at)
        self._settle(replies)
        if useless := len(messages) - len(replies):
            rest = self._flood.rest(useless, sum(map(len, messages)), at)
            if rest and self._connection is not None:
                self._connection.throttle(rest)
        self._pump()
        self._wake_for_room()
        self._note_drained()

    def writable(self) -> None:
        """Send on after the relay caught up."""
        self._pump()

    # inside

    def _wake_for_room(self) -> None:
        if self._intake.backlog and self._held.wants_more:
            self._wake.set()

    def _note_drained(self) -> None:
        busy = self._session.in_flight or self._conflicts
        if self._stopping and not busy and not self._drained.done():
            self._drained.set_result(None)

    def _fail_in_flight(self, reason: str) -> None:
        reason = f"connection lost: {reason}"
        for delivery in self._session.lost():
            self._verdicts.unanswered(delivery, reason)
        self._held.give_back(f"not sent: {reason}", self._clock())
        self._note_drained()

    async def _refill(self) -> None:
        """Claim deliveries when there is room and reason to."""
        if self._claim_wait() == 0:
            for delivery in await self._intake.claim(self._held.room):
                self.offer(delivery)

    async def _resolve_conflicts(self) -> None:
        if self._conflicts:
            await self._conflicts.resolve()
            self._note_drained()

    def _ask(self, refusal: Reply) -> bool:
        """Ask the relay what it holds in the place of an event that it refused; False if it is away."""
        if self._connection is None or not self._connection.is_open:
            return False
        question = self._session.ask(refusal.delivery, refusal.message, self._loop.time())
        self._session.outgoing.append(question)
        return True

    def _claim_wait(self) -> float:
        """Seconds until the outbox may be asked."""
        if self._stopping or not self._held.wants_more:
            return math.inf
        return max(self._intake.wait(), self._pace.pause(self._loop.time()))

    async def _sleep(self) -> None:
        """Until woken, the next deadline, the end of a pause, or the next look into the outbox."""
        now = self._loop.time()
        waits = [self._claim_wait(), POLL_SECONDS]
        if (deadline := self._session.next_deadline) is not None:
            waits.append(deadline - now)
        if self._held.queue and (pause := self._pace.pause(now)):
            waits.append(pause)
        with suppress(TimeoutError):
            async with asyncio.timeout(min(waits)):
                await self._wake.wait()

    def _expire(self) -> None:
        replies: list[Reply] = []
        overdue = self._session.expire(self._loop.time(), replies)
        if overdue:
            self._pace.in_vain()
            for delivery in overdue:
                self._verdicts.unanswered(delivery, self._limits.silence(delivery))
        self._settle(replies)

    def _pump(self) -> None:
        """Send what waits, as far as the window and the relay's reading allow."""
        self._pumping = False
        connection, session, queue = self._connection, self._session, self._held.queue
        if connection is None:
            return
        messages = session.outgoing
        session.outgoing = []
        now = self._loop.time()
        sending = connection.ready and connection.is_open and not self._pace.pause(now)
        room = self._pace.room(session.in_flight) if sending else 0
        while room > 0 and queue:
            messages.append(session.send(queue.pop(), now))
            room -= 1
        if messages:
            connection.send(messages)

    def _settle(self, replies: list[Reply]) -> None:
        """Report answers; a late one is held until that is recorded, as the others are already."""
        for reply in replies:
            if self._verdicts.answered(reply) and reply.late:
                self._held.answered_late(reply.delivery.event_id)

    def _conflict(self, refusal: Reply) -> None:
        self._conflicts.add(refusal)
        self._wake.set()
