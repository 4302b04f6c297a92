"""Prometheus' text format 0.0.4, written by its own library."""

from __future__ import annotations

from itertools import accumulate
from typing import TYPE_CHECKING

from prometheus_client import CollectorRegistry
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily
from prometheus_client.exposition import CONTENT_TYPE_PLAIN_0_0_4 as CONTENT_TYPE
from prometheus_client.exposition import generate_latest
from prometheus_client.registry import Collector
from prometheus_client.utils import floatToGoString

from app.web.metrics import Counter, Distribution, Gauge

if TYPE_CHECKING:
    from collections.abc import Iterable

    from prometheus_client.core import Metric

    from app.web.metrics import Family

__all__ = ["CONTENT_TYPE", "exposition"]


def exposition(families: Iterable[Family]) -> bytes:
    """The families as text."""
    registry = CollectorRegistry(auto_describe=False)
    registry.register(_Snapshot([_metric(family) for family in families]))
    return generate_latest(registry)


class _Snapshot(Collector):
    def __init__(self, metrics: list[Metric]) -> None:
        self._metrics = metrics

    def collect(self) -> Iterable[Metric]:
        return self._metrics


def _metric(family: Family) -> Metric:
    match family:
        case Counter(name, text, labels, values):
            counter = CounterMetricFamily(name, text, labels=labels)
            for label_values, value in values.items():
                counter.add_metric(label_values, value)
            return counter
        case Gauge(name, text, labels, readings):
            gauge = GaugeMetricFamily(name, text, labels=labels)
            for label_values, reading in readings.items():
                gauge.add_metric(label_values, reading)
            return gauge
        case Distribution(name, text, labels, distributions):
            histogram = HistogramMetricFamily(name, text, labels=labels)
            for label_values, one in distributions.items():
                bounds = [*map(floatToGoString, one.bounds), "+Inf"]
                buckets = list(zip(bounds, accumulate(one.counts), strict=True))
                histogram.add_metric(label_values, buckets, one.total)
            return histogram
    raise TypeError(f"no family of metrics: {family!r}")
