"""Request bodies: read up to a limit, then checked strictly."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import BaseModel, ValidationError

from app.web.problems import Problem

if TYPE_CHECKING:
    from starlette.requests import Request

    from app.web.answers import FaultDocument

M = TypeVar("M", bound=BaseModel)

MAX_BODY = 4096
JSON = "application/json"
FORM = "application/x-www-form-urlencoded"
_RAW = "briscola.raw_body"


async def read_body(request: Request, limit: int = MAX_BODY, media_types: tuple[str, ...] = (JSON,)) -> bytes:
    """The raw body of a call that brings one of these media types.

    Raises:
        Problem: 415 for another content type, 413 as soon as the body is known to exceed `limit` bytes.
    """
    _check_media_type(request, media_types)
    return await read_raw(request, limit)


def _check_media_type(request: Request, allowed: tuple[str, ...]) -> None:
    media_type, _, parameters = request.headers.get("content-type", "").partition(";")
    charset = parameters.replace('"', "").replace(" ", "").lower()
    if media_type.strip().lower() not in allowed or charset not in {"", "charset=utf-8"}:
        raise Problem("unsupported-media-type")


async def read_raw(request: Request, limit: int = MAX_BODY) -> bytes:
    """The raw body of any call, kept on the request: who checks a signature reads it first.

    Raises:
        Problem: 413 as soon as the body is known to exceed `limit` bytes.
    """
    kept: bytes | None = request.scope.get(_RAW)
    if kept is not None:
        return kept
    length = request.headers.get("content-length", "")
    if length.isdecimal() and (len(length) > 12 or int(length) > limit):
        raise _too_large(limit)
    chunks: list[bytes] = []
    size = 0
    async for chunk in request.stream():
        size += len(chunk)
        if size > limit:
            raise _too_large(limit)
        chunks.append(chunk)
    request.scope[_RAW] = raw = b"".join(chunks)
    return raw


def _too_large(limit: int) -> Problem:
    # The rest of the body is never read, so the connection cannot be used again.
    return Problem("body-too-large", f"Send at most {limit} bytes.", headers={"Connection": "close"})


def parse_body(model: type[M], raw: bytes, *, slug: str) -> M:
    """Check a body against a strict model.

    Raises:
        Problem: 400 for what is no JSON or repeats a key; `slug` with the faulty fields for the rest.
    """
    try:
        parsed = model.model_validate_json(raw)
    except ValidationError as error:
        faults = error.errors(include_url=False, include_input=False, include_context=False)
        if faults[0]["type"] == "json_invalid":
            raise Problem("malformed-body") from None
        _refuse_repeated_keys(raw)
        raise _invalid(slug, faults) from None
    # Where the strings are as many as the model's names and values need, no key can be there twice.
    strings = len(parsed.model_fields_set) + sum(isinstance(value, str) for _, value in parsed)
    if raw.count(b'"') != 2 * strings:
        _refuse_repeated_keys(raw)
    return parsed


def _invalid(slug: str, faults: list[Any]) -> Problem:
    errors: list[FaultDocument] = []
    for fault in faults:
        field = ".".join(str(part)[:64] for part in fault["loc"])
        message = str(fault["msg"]).removeprefix("Value error, ")
        errors.append({"field": field, "message": message})
    first = errors[0]
    where = f"{first['field']}: " if first["field"] else ""
    return Problem(slug, f"{where}{first['message']}.", errors=errors)


def _refuse_repeated_keys(raw: bytes) -> None:
    def unique(pairs: list[tuple[str, object]]) -> dict[str, object]:
        if len({key for key, _ in pairs}) != len(pairs):
            raise Problem("malformed-body", "A key stands in the body twice: send each key once.")
        return dict(pairs)

    try:
        json.loads(raw, object_pairs_hook=unique, parse_int=str)
    except (ValueError, RecursionError):
        raise Problem("malformed-body") from None
