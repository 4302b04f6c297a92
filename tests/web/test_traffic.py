"""What clients make up makes no new series."""

from __future__ import annotations

from typing import Any

from starlette.routing import Route

from app.web.traffic import Traffic


def scope(method: str, path: str, route: str | None = None, **more: str) -> dict[str, Any]:
    routed = {} if route is None else {"route": Route(route, lambda _request: None)}
    return {"type": "http", "method": method, "path": path, **routed, **more}


def test_calls_are_counted_by_their_route() -> None:
    traffic = Traffic()
    for number in range(3):
        traffic.answered(scope("GET", f"/v1/scores/{number}", "/v1/scores/{event_id}"), 200, 0.02)
    traffic.answered(scope("GET", "/v1/scores/x", "/v1/scores/{event_id}"), 404, 40)
    traffic.answered(scope("GET", "/wp-login.php"), 404, 0.001)
    traffic.answered(scope("BREW", "/", None), 404, 0.001)
    assert traffic.answers == {
        ("GET", "/v1/scores/{event_id}", 200): 3,
        ("GET", "/v1/scores/{event_id}", 404): 1,
        ("GET", "none", 404): 1,
        ("other", "none", 404): 1,
    }
    histogram = traffic.seconds["GET", "/v1/scores/{event_id}"]
    assert dict(zip(histogram.bounds, histogram.counts, strict=False))[0.025] == 3
    assert histogram.counts[-1] == 1


def test_a_refused_score_is_counted_even_if_no_route_was_looked_up() -> None:
    traffic = Traffic()
    traffic.answered(scope("POST", "/v1/scores", problem="rate-limited"), 429, 0.001)
    traffic.answered(scope("POST", "/v1/scores", "/v1/scores", problem="name-taken"), 403, 0.001)
    traffic.answered(scope("GET", "/v1/scores", "/v1/scores", problem="method-not-allowed"), 405, 0.001)
    traffic.answered(scope("POST", "/v1/other", problem="not-found"), 404, 0.001)
    traffic.answered(scope("POST", "/v1/scores", "/v1/scores"), 201, 0.001)
    assert traffic.rejected_scores == {"rate-limited": 1, "name-taken": 1}
