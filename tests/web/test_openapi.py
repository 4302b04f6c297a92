"""The document says what the service does: read closely, and tried on the live service by schemathesis."""

from __future__ import annotations

import asyncio
import os
import re
import sys
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest
from pydantic import TypeAdapter
from starlette.routing import Route

from app.main import open_service
from app.web.answers import ScoreDocument
from app.web.live_board import open_board
from app.web.operation import operation_of
from app.web.problem_kinds import KINDS
from tests.relays.real import rust_relay
from tests.service import PUBLIC_URL, Running, make_key, running, settings
from tests.web.boards import Source, board_of
from tests.web.live import live

if TYPE_CHECKING:
    from collections.abc import Iterator

ROOT = Path(__file__).parent.parent.parent


async def document(client: Running) -> dict[str, Any]:
    answer = await client.http.get("/openapi.json")
    assert answer.headers["content-type"] == "application/json"
    described: dict[str, Any] = answer.json()
    return described


def walk(node: object) -> Iterator[dict[str, Any]]:
    if isinstance(node, dict):
        yield node
    for child in node.values() if isinstance(node, dict) else node if isinstance(node, list) else ():
        yield from walk(child)


async def test_every_route_is_described(tmp_path: Path) -> None:
    async with running(tmp_path, board=board_of(Source())) as client:
        described = await document(client)
        app: Any = client.service.app(PUBLIC_URL, board_of(Source()))
        while not hasattr(app, "routes"):
            app = app._app
        routes = [route for route in app.routes if isinstance(route, Route)]
        assert len(routes) == len(app.routes)
        for route in routes:
            assert operation_of(route.endpoint) is not None, route.path
            for method in (route.methods or set()) - {"HEAD"}:
                assert method.lower() in described["paths"][route.path], route.path
    assert described["openapi"].startswith("3.1.")
    assert described["servers"] == [{"url": PUBLIC_URL}]


async def test_every_operation_is_told_apart_and_says_what_it_does(tmp_path: Path) -> None:
    async with running(tmp_path, board=board_of(Source())) as client:
        described = await document(client)
    operations = [operation for path in described["paths"].values() for operation in path.values()]
    assert len({operation["operationId"] for operation in operations}) == len(operations)
    for operation in operations:
        assert operation["summary"].endswith("."), operation["operationId"]
        assert {"400", "408", "414", "429", "431", "500", "503"} <= operation["responses"].keys()


async def test_every_reference_leads_somewhere(tmp_path: Path) -> None:
    async with running(tmp_path, board=board_of(Source())) as client:
        described = await document(client)
    references = {node["$ref"] for node in walk(described) if isinstance(node.get("$ref"), str)}
    assert references
    schemas = described["components"]["schemas"]
    assert {reference.removeprefix("#/components/schemas/") for reference in references} <= schemas.keys()


async def test_the_errors_of_a_post_are_those_of_the_registry(tmp_path: Path) -> None:
    async with running(tmp_path, board=board_of(Source())) as client:
        described = await document(client)
    post = described["paths"]["/v1/scores"]["post"]
    slugs: dict[str, set[str]] = {}
    for status, response in post["responses"].items():
        problem = response["content"].get("application/problem+json")
        if problem is not None:
            types = problem["schema"]["properties"]["type"]["enum"]
            slugs[status] = {name.removeprefix(f"{PUBLIC_URL}/problems/") for name in types}
            assert all(KINDS[slug].status == int(status) for slug in slugs[status])
    assert slugs["401"] == {"unauthenticated"}
    assert slugs["413"] == {"body-too-large"}
    assert slugs["422"] == {"invalid-score", "idempotency-key-reused"}
    assert slugs["429"] == {"rate-limited", "too-fast"}
    assert slugs["503"] == {
        "overloaded",
        "stopping",
        "clock-behind",
        "store-unavailable",
        "outcome-unknown",
        "identity-provider-unavailable",
    }
    assert set(post["responses"]["401"]["headers"]) == {"WWW-Authenticate"}
    assert set(post["responses"]["429"]["headers"]) == {"Retry-After"}
    assert post["security"] == [{"bearer": []}, {"nostr": []}]
    known = described["components"]["schemas"]["Problem"]["properties"]["type"]["examples"]
    assert {name.rpartition("/")[2] for name in known} == set(KINDS)


async def test_a_score_is_what_the_document_says(tmp_path: Path) -> None:
    async with running(tmp_path) as client:
        answer = await client.post("alice", 72)
    TypeAdapter(ScoreDocument).validate_json(answer.content)


@pytest.mark.timeout(120)
async def test_schemathesis_finds_nothing(tmp_path: Path) -> None:
    _, token = make_key(tmp_path / "scores.db")
    async with rust_relay() as relay:
        opened = settings(tmp_path / "scores.db", [relay], RATE_LIMIT_PER_ADDRESS="off")
        async with (
            open_service(opened) as service,
            open_board(opened.relays, opened.verifying_keys, service.clock) as board,
            live(lambda url: service.app(url, board)) as server,
        ):
            process = await asyncio.create_subprocess_exec(
                *(sys.executable, "-m", "schemathesis.cli", "run", f"{server.url}/openapi.json"),
                *("--header", f"Authorization: Bearer {token}", "--continue-on-failure"),
                *("--exclude-path", "/v1/leaderboard/stream"),  # never ends
                *(
                    "--phases",
                    "coverage,fuzzing",
                    "--max-examples",
                    "15",
                    "--seed",
                    "1",
                    "--request-timeout",
                    "40",
                    "--no-color",
                ),
                cwd=tmp_path,  # where it keeps what it found
                env=os.environ
                | {"SCHEMATHESIS_HOOKS": "tests.web.schemathesis_hooks", "PYTHONPATH": str(ROOT)},
                stdout=asyncio.subprocess.PIPE,
                stderr=asyncio.subprocess.STDOUT,
            )
            output = (await process.communicate())[0].decode()
    assert process.returncode == 0, output
    tested = re.search(r"(\d+) generated", output)
    assert tested is not None, output
    assert int(tested[1]) > 100
