"""GET /metrics: how the process stands, as Prometheus reads it; gathered when it is asked for.

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

from app.web.operation import Answer, Operation, promises

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from prometheus_client.core import Metric
    from starlette.requests import Request
    from starlette.routing import BaseRoute

    from app.histogram import Histogram
    from app.web.traffic import Traffic

L = TypeVar("L", bound=tuple[str, ...])


class Metrics:
    """The endpoint.

    Args:
        traffic: what was answered so far.
        gather: everything else that is to be told.
    """

    def __init__(self, traffic: Traffic, gather: Callable[[], Awaitable[Iterable[Metric]]]) -> None:
        self._traffic = traffic
        self._gather = gather

    def routes(self) -> list[BaseRoute]:
        """The route."""
        return [Route("/metrics", self.show)]

    @promises(Operation({200: Answer("Prometheus text format 0.0.4.")}))
    async def show(self, _request: Request) -> Response:
        """How the process stands, for Prometheus."""
        registry = CollectorRegistry(auto_describe=False)
        registry.register(_Snapshot([*await self._gather(), *_of_traffic(self._traffic)]))
        return Response(
            generate_latest(registry),
            headers={"Cache-Control": "no-store", "Content-Type": CONTENT_TYPE_PLAIN_0_0_4},
        )


def counter(name: str, text: str, labels: tuple[str, ...], values: Mapping[L, int]) -> Metric:
    """A counter's series, by the values of its labels."""
    family = CounterMetricFamily(name, text, labels=labels)
    for label_values, value in values.items():
        family.add_metric(label_values, value)
    return family


def gauge(name: str, text: str, labels: tuple[str, ...], values: Mapping[L, float]) -> Metric:
    """A gauge's series, by the values of its labels."""
    family = GaugeMetricFamily(name, text, labels=labels)
    for label_values, value in values.items():
        family.add_metric(label_values, value)
    return family


def histogram(name: str, text: str, labels: tuple[str, ...], values: Mapping[L, Histogram]) -> Metric:
    """A histogram's series, by the values of its labels."""
    family = HistogramMetricFamily(name, text, labels=labels)
    for label_values, one in values.items():
        bounds = [*map(floatToGoString, one.bounds), "+Inf"]
        buckets = list(zip(bounds, accumulate(one.counts), strict=True))
        family.add_metric(label_values, buckets, one.total)
    return family


class _Snapshot(Collector):
    def __init__(self, families: list[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        return self._families


def _of_traffic(traffic: Traffic) -> Iterable[Metric]:
    yield counter(
        "briscola_http_requests",
        "Calls that were answered; those that reached no route have the route none.",
        ("method", "route", "status"),
        {(method, route, str(status)): n for (method, route, status), n in traffic.answers.items()},
    )
    yield histogram(
        "briscola_http_request_duration_seconds",
        "Time until a call was answered whole.",
        ("method", "route"),
        traffic.seconds,
    )
