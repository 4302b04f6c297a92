"""Every error is a problem document, and every problem has its page."""

from __future__ import annotations

import logging
from typing import TYPE_CHECKING

import pytest
from httpx import ASGITransport, AsyncClient
from starlette.routing import Route

from app.store.errors import OutcomeUnknown, StoreUnavailable
from app.web.app import make_app
from app.web.problem_kinds import KINDS
from app.web.problems import Problem
from tests.service import PUBLIC_URL, assert_problem

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.responses import Response


def client(error: Exception) -> AsyncClient:
    async def fail(_request: Request) -> Response:
        raise error

    app = make_app([Route("/fail", fail)], PUBLIC_URL)
    transport = ASGITransport(app, raise_app_exceptions=False)
    return AsyncClient(transport=transport, base_url="http://test")


SLUGS = {
    "malformed-body": 400,
    "malformed-request": 400,
    "malformed-header": 400,
    "unauthenticated": 401,
    "origin-not-allowed": 403,
    "forbidden": 403,
    "name-taken": 403,
    "name-banned": 403,
    "proof-required": 403,
    "not-your-match": 403,
    "statement-refused": 403,
    "not-found": 404,
    "score-deleted": 404,
    "method-not-allowed": 405,
    "request-timeout": 408,
    "match-unfinished": 409,
    "not-dealt": 409,
    "already-dealt": 409,
    "wrong-ply": 409,
    "match-over": 409,
    "no-transcript": 409,
    "body-too-large": 413,
    "address-too-long": 414,
    "unsupported-media-type": 415,
    "invalid-score": 422,
    "invalid-query": 422,
    "invalid-match": 422,
    "invalid-deal": 422,
    "invalid-play": 422,
    "card-not-in-hand": 422,
    "idempotency-key-reused": 422,
    "too-fast": 429,
    "matches-abandoned": 429,
    "rate-limited": 429,
    "header-too-large": 431,
    "internal": 500,
    "overloaded": 503,
    "stopping": 503,
    "clock-behind": 503,
    "identity-provider-unavailable": 503,
    "store-unavailable": 503,
    "outcome-unknown": 503,
}


@pytest.mark.parametrize("slug", SLUGS)
async def test_every_kind_has_a_stable_slug_and_a_page(slug: str) -> None:
    async with client(Problem(slug)) as http:
        document = assert_problem(await http.get("/fail"), SLUGS[slug], slug)
        page = await http.get(document["type"].removeprefix(PUBLIC_URL))
    assert page.status_code == 200
    assert page.headers["content-type"].startswith("text/plain")
    assert document["title"] in page.text
    assert slug in page.text
    assert str(SLUGS[slug]) in page.text


def test_there_are_no_other_kinds() -> None:
    assert set(KINDS) == set(SLUGS)


async def test_an_unknown_kind_has_no_page() -> None:
    async with client(Problem("not-found")) as http:
        assert_problem(await http.get("/problems/nothing"), 404, "not-found")


async def test_what_belongs_to_a_problem_is_shown() -> None:
    problem = Problem(
        "invalid-score",
        "Look at it.",
        headers={"Retry-After": "7"},
        errors=[{"field": "score", "message": "is odd"}],
        members={"seen_at": 5},
    )
    async with client(problem) as http:
        answer = await http.get("/fail")
    assert answer.headers["retry-after"] == "7"
    assert answer.json() == {
        "type": f"{PUBLIC_URL}/problems/invalid-score",
        "title": "The score cannot be published",
        "status": 422,
        "detail": "Look at it.",
        "seen_at": 5,
        "errors": [{"field": "score", "message": "is odd"}],
    }


async def test_a_failure_of_our_own_shows_nothing_of_itself(caplog: pytest.LogCaptureFixture) -> None:
    async with client(RuntimeError("the inner secret")) as http:
        answer = await http.get("/fail?token=abc")
    assert_problem(answer, 500, "internal")
    assert "inner secret" not in answer.text
    assert "Traceback" not in answer.text
    (record,) = [record for record in caplog.records if record.levelno >= logging.ERROR]
    assert record.getMessage() == "GET '/fail' failed"
    assert record.exc_info is not None


async def test_what_was_lost_from_sight_is_not_called_refused() -> None:
    async with client(OutcomeUnknown("the database was lost as it was told to commit")) as http:
        answer = await http.get("/fail")
    document = assert_problem(answer, 503, "outcome-unknown")
    assert answer.headers["retry-after"] == "5"
    assert "same Idempotency-Key" in document["detail"]


async def test_a_store_that_does_not_answer_says_when_to_come_again() -> None:
    async with client(StoreUnavailable("the database does not take writes: disk full")) as http:
        answer = await http.get("/fail")
    document = assert_problem(answer, 503, "store-unavailable")
    assert answer.headers["retry-after"] == "5"
    assert "disk full" not in document["detail"]
