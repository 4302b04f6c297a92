"""GET /openapi.json: every call and every error (OpenAPI 3.1), made of the routes and what they promise."""

from __future__ import annotations

import inspect
import re
from importlib.metadata import PackageNotFoundError, version
from typing import TYPE_CHECKING, Any

import orjson
from pydantic import TypeAdapter
from starlette.responses import Response
from starlette.routing import Route

from app.briscola.computer import LEVELS
from app.web.answers import ProblemDocument
from app.web.board_query import DEFAULT_LIMIT, MAX_LIMIT, MAX_TIME, PERIODS
from app.web.body import FORM
from app.web.operation import Answer, Operation, operation_of, promises
from app.web.problem_kinds import KINDS

if TYPE_CHECKING:
    from collections.abc import Iterable, Sequence

    from starlette.requests import Request
    from starlette.routing import BaseRoute

_REF = "#/components/schemas/{model}"

# What may go wrong with every call, with every call that brings a body, and with every call that signs in.
_ALWAYS = (
    "malformed-request",
    "request-timeout",
    "address-too-long",
    "rate-limited",
    "header-too-large",
    "internal",
    "stopping",
    "overloaded",
)
_WITH_BODY = ("malformed-body", "body-too-large", "unsupported-media-type")
_SIGNING_IN = ("unauthenticated", "identity-provider-unavailable", "store-unavailable", "outcome-unknown")

_SECURITY_SCHEMES = {
    "bearer": {
        "type": "http",
        "scheme": "bearer",
        "description": "An API key from the operator, or a token (JWT) of the site's identity provider.",
    },
    "nostr": {
        "type": "http",
        "scheme": "nostr",
        "description": "An event that the player's own key has signed for this one call (NIP-98), in base64.",
    },
    "match": {
        "type": "http",
        "scheme": "bearer",
        "description": "The token that POST /v1/matches answered; it plays that match alone.",
    },
}
_SIGN_IN = ("bearer", "nostr")
_MATCH = "match"

_TEXT = {"type": "string"}
_NUMBER = {"type": "integer", "minimum": 0}

# Every header, path and query parameter by its name.
PARAMETERS: dict[str, tuple[str, dict[str, Any]]] = {
    "Allow": ("The methods that are allowed here.", _TEXT),
    "ETag": ("Names this answer; send it back in If-None-Match.", _TEXT),
    "If-None-Match": ("Entity tags of answers that the client has (RFC 9110).", _TEXT),
    "Idempotency-Key": (
        "1 to 255 visible characters, bare or quoted: the same key and body, the same score, for 24 hours.",
        {"type": "string", "pattern": "^[!#-~][!-~]{0,254}$"},
    ),
    "Idempotent-Replayed": ("`true` if the call came before, and this is its score.", _TEXT),
    "Last-Event-ID": ("The id of the last event that the client has.", _TEXT),
    "Location": ("The address of what was made.", {"type": "string", "format": "uri"}),
    "Prefer": ("`wait=N` waits up to N seconds, 30 at most, for the relays (RFC 7240).", _TEXT),
    "Preference-Applied": ("The preference that was followed (RFC 7240).", _TEXT),
    "Retry-After": ("Seconds to wait before the next try.", _NUMBER),
    "WWW-Authenticate": ("How to sign in.", _TEXT),
    "event_id": (
        "The id of a score event: 64 lower-case hex digits.",
        {"type": "string", "pattern": "^[0-9a-f]{64}$"},
    ),
    "match_id": (
        "The id of a match: 32 lower-case hex digits.",
        {"type": "string", "pattern": "^[0-9a-f]{32}$"},
    ),
    "username": ("A player's name in any spelling.", {"type": "string", "minLength": 1}),
    "limit": (
        "Rows at most.",
        {"type": "integer", "minimum": 1, "maximum": MAX_LIMIT, "default": DEFAULT_LIMIT},
    ),
    "cursor": (
        "What `next` of another answer was: the rows behind it, right whatever has changed since.",
        {"type": "string", "format": "briscola-cursor"},
    ),
    "since": (
        "Rows of this time or later: unix seconds, or `day` or `week` for as long until now.",
        {"anyOf": [{"type": "integer", "minimum": 0, "maximum": MAX_TIME}, {"enum": [*PERIODS]}]},
    ),
    "until": (
        "Rows of this time or earlier: unix seconds.",
        {"type": "integer", "minimum": 0, "maximum": MAX_TIME},
    ),
    "around": ("A player's name: the rows around theirs.", {"type": "string", "minLength": 1}),
    "proved": ("`1` for proved scores alone.", {"enum": [0, 1]}),
    "level": ("Proved scores alone that were played against this level.", {"enum": list(LEVELS)}),
    "name": ("The name to look up; `_` is the app (NIP-05).", {"type": "string", "default": "_"}),
    "period": ("Rows of the last `day`, of the last `week`, or `all`.", _TEXT),
    "q": ("A player's name, whole and in any spelling: their row alone.", _TEXT),
    "player": ("A player's name: their latest score is the event to check.", _TEXT),
    "asset": ("The name of a file that a page loads.", _TEXT),
    "slug": ("The last part of a problem's type.", {"enum": list(KINDS)}),
}


def openapi_route(routes: Sequence[BaseRoute], public_url: str) -> Route:
    """The route of the document that describes `routes` and itself."""

    @promises(Operation({200: Answer("The OpenAPI document.", dict[str, Any])}))
    async def openapi(_request: Request) -> Response:
        """This document."""
        return Response(document, media_type="application/json")

    own = Route("/openapi.json", openapi)
    document = orjson.dumps(openapi_document([*routes, own], public_url))
    return own


def openapi_document(routes: Iterable[BaseRoute], public_url: str) -> dict[str, Any]:
    """The OpenAPI document; a route whose endpoint promises nothing is not in it."""
    schemas: dict[str, Any] = {"Problem": _problem_schema(public_url)}
    paths: dict[str, dict[str, Any]] = {}
    for route in routes:
        if not isinstance(route, Route) or (operation := operation_of(route.endpoint)) is None:
            continue
        for method in sorted((route.methods or set()) - {"HEAD"}):
            described = _operation(route, operation, public_url, schemas)
            paths.setdefault(route.path, {})[method.lower()] = described
    return {
        "openapi": "3.1.0",
        "info": {
            "title": "Briscola scores",
            "version": _version(),
            "description": "Signs Briscola scores as Nostr events and gets them onto relays.",
        },
        "servers": [{"url": public_url}],
        "paths": paths,
        "components": {"schemas": schemas, "securitySchemes": _SECURITY_SCHEMES},
    }


def _version() -> str:
    try:
        return version("briscola-scores")
    except PackageNotFoundError:  # run from a checkout
        return "0"


def _operation(
    route: Route, operation: Operation, public_url: str, schemas: dict[str, Any]
) -> dict[str, Any]:
    summary, _, description = (inspect.getdoc(route.endpoint) or "").partition("\n")
    in_path = re.findall(r"{(\w+)", route.path)
    described: dict[str, Any] = {
        "operationId": route.endpoint.__qualname__.rpartition("<locals>.")[2].replace(".", "_").lower(),
        "summary": summary,
        "parameters": [
            *({"in": "path", "required": True, **_parameter(name)} for name in in_path),
            *({"in": "query", **_parameter(name, lenient=operation.lenient)} for name in operation.query),
            *({"in": "header", **_parameter(name)} for name in operation.headers),
        ],
        "responses": {str(status): _good(answer, schemas) for status, answer in operation.answers.items()},
    }
    if description.strip():
        described["description"] = description.strip()
    slugs = {*_ALWAYS, *operation.problems}
    if operation.body is not None or operation.form:
        slugs.update(_WITH_BODY)
        content: dict[str, Any] = {}
        if operation.body is not None:
            content["application/json"] = {"schema": _schema(operation.body, schemas)}
        content |= {media_type: {"schema": _TEXT} for media_type in operation.media_types}
        if operation.form:
            content[FORM] = {"schema": _form(operation.form)}
        described["requestBody"] = {"required": True, "content": content}
    if operation.signs_in:
        slugs.update(_SIGNING_IN)
        allowed = [*_SIGN_IN, _MATCH] if operation.plays else _SIGN_IN
        described["security"] = [{name: []} for name in allowed]
    for status in sorted({KINDS[slug].status for slug in slugs}):
        of_status = [slug for slug in KINDS if slug in slugs and KINDS[slug].status == status]
        bad = _bad(of_status, public_url)
        if (good := described["responses"].get(str(status))) is not None:
            bad["description"] = f"{good['description']}\n{bad['description']}"
            bad["content"] |= good["content"]
        described["responses"][str(status)] = bad
    return described


def _form(fields: tuple[str, ...]) -> dict[str, Any]:
    properties = dict.fromkeys(fields, _TEXT)
    return {
        "type": "object",
        "properties": properties,
        "required": list(fields),
        "additionalProperties": False,
    }


def _parameter(name: str, *, lenient: bool = False) -> dict[str, Any]:
    description, schema = PARAMETERS[name]
    return {"name": name, "description": description, "schema": _TEXT if lenient else schema}


def _headers(names: Iterable[str]) -> dict[str, Any]:
    return {name: {"description": PARAMETERS[name][0], "schema": PARAMETERS[name][1]} for name in names}


def _good(answer: Answer, schemas: dict[str, Any]) -> dict[str, Any]:
    described: dict[str, Any] = {
        "description": answer.description,
        "headers": _headers(answer.headers),
    }
    if answer.schema is not None:
        described["content"] = {"application/json": {"schema": _schema(answer.schema, schemas)}}
    elif answer.media_type is not None:
        described["content"] = {answer.media_type: {"schema": _TEXT}}
    return described


def _bad(slugs: list[str], public_url: str) -> dict[str, Any]:
    """The problems that share a status."""
    schema = {
        "$ref": _REF.format(model="Problem"),
        "properties": {"type": {"enum": [f"{public_url}/problems/{slug}" for slug in slugs]}},
    }
    return {
        "description": "\n".join(f"`{slug}`: {KINDS[slug].title}. {KINDS[slug].advice}" for slug in slugs),
        "headers": _headers(sorted({name for slug in slugs for name in KINDS[slug].headers})),
        "content": {"application/problem+json": {"schema": schema}},
    }


def _problem_schema(public_url: str) -> dict[str, Any]:
    schema = TypeAdapter(ProblemDocument).json_schema(ref_template=_REF, mode="serialization")
    fault = schema.pop("$defs")["FaultDocument"]
    schema["properties"]["errors"]["items"] = fault
    schema["properties"]["type"] |= {
        "format": "uri",
        "examples": [f"{public_url}/problems/{slug}" for slug in KINDS],
    }
    return schema


def _schema(of: Any, schemas: dict[str, Any]) -> dict[str, Any]:
    """A reference to the schema of a type, which is put beside those it needs."""
    schema = TypeAdapter(of).json_schema(ref_template=_REF)
    schemas.update(schema.pop("$defs", {}))
    title = schema.get("title")
    if title is None:
        return schema
    schemas[title] = schema
    return {"$ref": _REF.format(model=title)}
