"""GET /metrics: how the service stands, as Prometheus reads it; gathered when it is asked for.

Labels are routes, statuses, slugs and relays: never a player, a key or a caller.
"""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING, TypeVar

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4, generate_latest
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString
from starlette.responses import Response
from starlette.routing import Route

from app.nostr.relay_url import public_relay_urls
from app.store.errors import StoreUnavailable
from app.store.pending import read_pending
from app.web.operation import Answer, Operation, promises
from app.web.problems import KINDS

if TYPE_CHECKING:
    from collections.abc import Callable, Iterable, Mapping

    from prometheus_client.core import Metric
    from starlette.requests import Request
    from starlette.routing import BaseRoute

    from app.delivery.engine import Engine
    from app.delivery.status import RelayStatus
    from app.histogram import Histogram
    from app.publisher import Publisher
    from app.store.pending import Pending
    from app.store.store import Store
    from app.web.traffic import Traffic

L = TypeVar("L", bound=tuple[str, ...])

_OUTCOMES = ("accepted", "rejected", "conflict", "retried")


class Metrics:
    """The endpoint.

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

    def routes(self) -> list[BaseRoute]:
        """The route."""
        return [Route("/metrics", self.show)]

    @promises(Operation({200: Answer("Prometheus text format 0.0.4.")}))
    async def show(self, _request: Request) -> Response:
        """How the service stands, for Prometheus."""
        pending: dict[str, Pending] | None = None
        try:
            await self._store.check_writable()
            pending = await self._store.read(read_pending)
        except StoreUnavailable:
            pass  # which is what the metrics then say
        registry = CollectorRegistry(auto_describe=False)
        registry.register(_Snapshot([*self._of_the_service(), *self._of_the_relays(pending)]))
        return Response(
            generate_latest(registry),
            headers={"Cache-Control": "no-store", "Content-Type": CONTENT_TYPE_PLAIN_0_0_4},
        )

    def _of_the_service(self) -> Iterable[Metric]:
        traffic, store = self._traffic, self._store
        yield CounterMetricFamily(
            "briscola_scores_accepted", "Scores signed and stored.", self._publisher.accepted
        )
        yield _counter(
            "briscola_scores_rejected",
            "Posted scores that were refused, by the slug of the problem.",
            ("reason",),
            # All from the start, because a series that begins at 1 shows Prometheus no increase.
            {(slug,): traffic.rejected_scores[slug] for slug in KINDS},
        )
        yield _counter(
            "briscola_http_requests",
            "Calls that were answered; those that reached no route have the route none.",
            ("method", "route", "status"),
            {(method, route, str(status)): n for (method, route, status), n in traffic.answers.items()},
        )
        yield _histogram(
            "briscola_http_request_duration_seconds",
            "Time until a call was answered whole.",
            ("method", "route"),
            traffic.seconds,
        )
        yield _histogram("briscola_store_commit_seconds", "Time of a commit.", (), {(): store.commit_seconds})
        yield _histogram(
            "briscola_store_commit_requests",
            "Requests that shared a commit.",
            (),
            {(): store.commit_requests},
        )

    def _of_the_relays(self, pending: dict[str, Pending] | None) -> Iterable[Metric]:
        relays = self._engine.status()
        shown = public_relay_urls(relay.url for relay in relays)

        def gauge(name: str, text: str, value: Callable[[RelayStatus], float]) -> Metric:
            family = GaugeMetricFamily(name, text, labels=("relay",))
            for relay in relays:
                family.add_metric((shown[relay.url],), value(relay))
            return family

        yield gauge("briscola_relay_connected", "Whether the relay is connected.", lambda r: r.connected)
        yield gauge("briscola_relay_queued", "Deliveries in memory that wait to be sent.", lambda r: r.queued)
        yield gauge("briscola_relay_in_flight", "Deliveries that wait for an answer.", lambda r: r.in_flight)
        yield _counter(
            "briscola_relay_connections",
            "Connections that came about.",
            ("relay",),
            {(shown[relay.url],): relay.connects for relay in relays},
        )
        yield _counter(
            "briscola_deliveries",
            "What relays made of deliveries; retried is an attempt that came to nothing.",
            ("relay", "outcome"),
            {
                (shown[relay.url], outcome): count
                for relay in relays
                for outcome, count in zip(_OUTCOMES, _counts(relay), strict=True)
            },
        )
        yield GaugeMetricFamily(
            "briscola_store_available", "Whether the store takes writes.", pending is not None
        )
        if pending is None:
            return
        now = self._clock()
        yield gauge(
            "briscola_deliveries_pending",
            "Deliveries that wait in the store, or in this process.",
            lambda r: (pending[r.url].count if r.url in pending else 0) + r.queued + r.in_flight,
        )
        yield gauge(
            "briscola_deliveries_oldest_pending_seconds",
            "Age of the oldest of them, 0 if there is none.",
            lambda r: _age(r, pending.get(r.url), now),
        )


class _Snapshot(Collector):
    def __init__(self, families: list[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        return self._families


def _counts(relay: RelayStatus) -> tuple[int, ...]:
    return relay.accepted, relay.rejected, relay.conflicts, relay.retried


def _age(relay: RelayStatus, pending: Pending | None, now: float) -> float:
    since = [now]
    if relay.oldest is not None:
        since.append(relay.oldest)
    if pending is not None:
        since.append(pending.oldest)
    return now - min(since)


def _counter(name: str, text: str, labels: tuple[str, ...], values: Mapping[L, int]) -> Metric:
    family = CounterMetricFamily(name, text, labels=labels)
    for label_values, value in values.items():
        family.add_metric(label_values, value)
    return family


def _histogram(name: str, text: str, labels: tuple[str, ...], values: Mapping[L, Histogram]) -> Metric:
    family = HistogramMetricFamily(name, text, labels=labels)
    for label_values, histogram in values.items():
        bounds = [*map(floatToGoString, histogram.bounds), "+Inf"]
        buckets = list(zip(bounds, accumulate(histogram.counts), strict=True))
        family.add_metric(label_values, buckets, histogram.total)
    return family
