"""What a service and a mirror tell Prometheus besides the calls that they answered."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.delivery.relay_reader import ReaderState
from app.nostr.relay_url import numbered_relay_urls
from app.store.errors import StoreUnavailable
from app.store.pending import read_pending
from app.web.metrics import Counter, Distribution, Gauge
from app.web.problem_kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Iterator

    from app.delivery.engine import Engine
    from app.delivery.status import RelayStatus, Tally
    from app.publisher import Publisher
    from app.store.pending import Pending
    from app.store.store import Store
    from app.web.live_board import LiveBoard
    from app.web.metrics import Family
    from app.web.traffic import Traffic

_RELAY = ("relay",)
_CONNECTED = ("briscola_relay_connected", "Whether the relay is connected.")


class ServiceMetrics:
    """Scores, commits and relays of a service.

    Args:
        clock: unix seconds.
    """

    def __init__(
        self,
        store: Store,
        engine: Engine,
        publisher: Publisher,
        traffic: Traffic,
        clock: Callable[[], float],
    ) -> None:
        self._store = store
        self._engine = engine
        self._publisher = publisher
        self._traffic = traffic
        self._clock = clock

    async def gather(self) -> Iterable[Family]:
        """Everything, as it stands now."""
        pending: dict[str, Pending] | None = None
        try:
            await self._store.check_writable()
            pending = await self._store.read(read_pending)
        except StoreUnavailable:
            pass  # which is what the metrics then say
        return [*self._of_the_scores(), *self._of_the_store(pending), *self._of_the_relays(pending)]

    def _of_the_scores(self) -> Iterator[Family]:
        yield Counter(
            "briscola_scores_accepted", "Scores signed and stored.", (), {(): self._publisher.accepted}
        )
        yield Counter(
            "briscola_scores_rejected",
            "Posted scores that were refused, by the slug of the problem.",
            ("reason",),
            # All from the start, because a series that begins at 1 shows Prometheus no increase.
            {(slug,): self._traffic.rejected_scores[slug] for slug in KINDS},
        )

    def _of_the_store(self, pending: dict[str, Pending] | None) -> Iterator[Family]:
        available = {(): pending is not None}
        yield Gauge("briscola_store_available", "Whether the store takes writes.", (), available)
        seconds, requests = self._store.commit_seconds, self._store.commit_requests
        yield Distribution("briscola_store_commit_seconds", "Time of a commit.", (), {(): seconds})
        yield Distribution(
            "briscola_store_commit_requests", "Requests that shared a commit.", (), {(): requests}
        )

    def _of_the_relays(self, pending: dict[str, Pending] | None) -> Iterator[Family]:
        relays = self._engine.status()
        shown = numbered_relay_urls(relay.url for relay in relays)

        def each(value: Callable[[RelayStatus], float]) -> dict[tuple[str], float]:
            return {(shown[relay.url],): value(relay) for relay in relays}

        yield Gauge(*_CONNECTED, _RELAY, each(lambda r: r.connected))
        yield Gauge(
            "briscola_relay_queued",
            "Deliveries in memory that wait to be sent.",
            _RELAY,
            each(lambda r: r.queued),
        )
        yield Gauge(
            "briscola_relay_in_flight",
            "Deliveries that wait for an answer.",
            _RELAY,
            each(lambda r: r.in_flight),
        )
        yield Counter(
            "briscola_relay_connections",
            "Connections that came about.",
            _RELAY,
            {(shown[relay.url],): relay.tally.connects for relay in relays},
        )
        yield Counter(
            "briscola_deliveries",
            "What relays made of deliveries; retried is an attempt that came to nothing.",
            ("relay", "outcome"),
            {
                (shown[relay.url], outcome): count
                for relay in relays
                for outcome, count in _outcomes(relay.tally).items()
            },
        )
        if pending is None:
            return
        now = self._clock()
        yield Gauge(
            "briscola_deliveries_pending",
            "Deliveries that wait in the store, or in this process.",
            _RELAY,
            each(lambda r: (pending[r.url].count if r.url in pending else 0) + r.queued + r.in_flight),
        )
        yield Gauge(
            "briscola_deliveries_oldest_pending_seconds",
            "Age of the oldest of them, 0 if there is none.",
            _RELAY,
            each(lambda r: _age(r, pending.get(r.url), now)),
        )


class MirrorMetrics:
    """The relays that a mirror reads."""

    def __init__(self, board: LiveBoard) -> None:
        self._board = board

    async def gather(self) -> Iterable[Family]:
        """Everything, as it stands now."""
        relays = self._board.relays
        shown = numbered_relay_urls(relay.url for relay in relays)
        reading = {ReaderState.READING, ReaderState.LIVE}
        return [
            Gauge(*_CONNECTED, _RELAY, {(shown[r.url],): r.state in reading for r in relays}),
            Gauge(
                "briscola_relay_complete",
                "Whether everything that the relay stores has come.",
                _RELAY,
                {(shown[relay.url],): relay.complete for relay in relays},
            ),
        ]


def _outcomes(tally: Tally) -> dict[str, int]:
    return {
        "accepted": tally.accepted,
        "rejected": tally.rejected,
        "conflict": tally.conflicts,
        "failed": tally.failed,
        "retried": tally.retried,
    }


def _age(relay: RelayStatus, pending: Pending | None, now: float) -> float:
    since = [now]
    if relay.oldest is not None:
        since.append(relay.oldest)
    if pending is not None:
        since.append(pending.oldest)
    return now - min(since)
