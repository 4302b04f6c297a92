"""What was answered over HTTP, counted as it happens: a few additions for each call."""

from __future__ import annotations

from collections import Counter
from typing import TYPE_CHECKING

from app.histogram import Histogram

if TYPE_CHECKING:
    from starlette.types import Scope

SECONDS = (0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1.0, 2.5, 5.0, 10.0, 30.0)
UNROUTED = "none"

# Whatever a client makes up counts as one.
_METHODS = frozenset({"GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"})


class Traffic:
    """Calls by what was called; never by who called.

    Attributes:
        answers: calls by method, route and status; a call that reached no route has the route `none`.
        seconds: how long answers took, by method and route.
        rejected_scores: posted scores that were refused, by the slug of the problem.
    """

    def __init__(self) -> None:
        self.answers: Counter[tuple[str, str, int]] = Counter()
        self.seconds: dict[tuple[str, str], Histogram] = {}
        self.rejected_scores: Counter[str] = Counter()

    def answered(self, scope: Scope, status: int, seconds: float) -> None:
        """Count one answer to the call with this ASGI scope."""
        method = scope["method"]
        if method not in _METHODS:
            method = "other"
        matched = scope.get("route")  # where Starlette leaves the route that took the call
        route = UNROUTED if matched is None else matched.path
        self.answers[method, route, status] += 1
        histogram = self.seconds.get((method, route))
        if histogram is None:
            histogram = self.seconds[method, route] = Histogram(SECONDS)
        histogram.observe(seconds)
        slug = scope.get("problem")
        # By the path, because a caller may be turned away before any route is looked up.
        if slug is not None and method == "POST" and scope["path"] == "/v1/scores":
            self.rejected_scores[slug] += 1
