"""GET /metrics: how the process stands, as Prometheus reads it; gathered when it is asked for.

Labels are routes, statuses, slugs and relays: never a player, a key or a caller.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from starlette.responses import Response
from starlette.routing import Route

from app.web.operation import Answer, Operation, promises

if TYPE_CHECKING:
    from collections.abc import Awaitable, Callable, Iterable, Mapping

    from starlette.requests import Request
    from starlette.routing import BaseRoute

    from app.histogram import Histogram
    from app.web.traffic import Traffic

L = TypeVar("L", bound=tuple[str, ...])


@dataclass(frozen=True, slots=True)
class Family:
    """What all series of one metric share; each kind has a class of its own.

    Attributes:
        name: the metric's.
        text: what it tells, for its readers.
        labels: the names of the labels.
    """

    name: str
    text: str
    labels: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Counter(Family, Generic[L]):
    """Counts that never fall, by the values of the labels."""

    values: Mapping[L, int]


@dataclass(frozen=True, slots=True)
class Gauge(Family, Generic[L]):
    """Readings, by the values of the labels."""

    values: Mapping[L, float]


@dataclass(frozen=True, slots=True)
class Distribution(Family, Generic[L]):
    """Histograms, by the values of the labels."""

    values: Mapping[L, Histogram]


class Metrics:
    """The endpoint.

    Args:
        traffic: what was answered so far.
        gather: everything else that is to be told.
    """

    def __init__(self, traffic: Traffic, gather: Callable[[], Awaitable[Iterable[Family]]]) -> None:
        self._traffic = traffic
        self._gather = gather

    def routes(self) -> list[BaseRoute]:
        """The route."""
        return [Route("/metrics", self.show)]

    @promises(Operation({200: Answer("Prometheus text format 0.0.4.")}))
    async def show(self, _request: Request) -> Response:
        """How the process stands, for Prometheus."""
        # Here, because it takes 3 MiB that a service which nobody scrapes does not need.
        from app.web.exposition import CONTENT_TYPE, exposition

        families = [*await self._gather(), *_of_traffic(self._traffic)]
        return Response(
            exposition(families), headers={"Cache-Control": "no-store", "Content-Type": CONTENT_TYPE}
        )


def _of_traffic(traffic: Traffic) -> Iterable[Family]:
    yield Counter(
        "briscola_http_requests",
        "Calls that were answered; those that reached no route have the route none.",
        ("method", "route", "status"),
        {(method, route, str(status)): n for (method, route, status), n in traffic.answers.items()},
    )
    yield Distribution(
        "briscola_http_request_duration_seconds",
        "Time until a call was answered whole.",
        ("method", "route"),
        traffic.seconds,
    )
