"""The Idempotency-Key header: bare, or quoted (draft-ietf-httpapi-idempotency-key-header)."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from app.store.idempotency import Attempt
from app.web.problems import Problem

if TYPE_CHECKING:
    from starlette.requests import Request

    from app.principal import Principal

MAX_LENGTH = 255

_BARE = re.compile(r"[!#-~][!-~]*")
# A string of RFC 9651, without spaces.
_QUOTED = re.compile(r'"((?:[!#-\[\]-~]|\\["\\])*)"')
_ESCAPED = re.compile(r"\\(.)")


def attempt_of(request: Request, principal: Principal, body: bytes) -> Attempt | None:
    """The attempt that a call makes; None if it has no Idempotency-Key.

    Raises:
        Problem: 400, if the header stands twice or holds no key.
    """
    values = request.headers.getlist("idempotency-key")
    if not values:
        return None
    # The parser keeps the blanks behind a value, which are no part of it (RFC 9112, section 5.1).
    key = parse_key(values[0].strip(" \t")) if len(values) == 1 else None
    if key is None:
        raise Problem(
            "malformed-header",
            f"Send Idempotency-Key once, with 1 to {MAX_LENGTH} visible ASCII characters, bare or quoted.",
        )
    return Attempt.of(principal, key, body)


def parse_key(value: str) -> str | None:
    """The key that a header's value holds; quoted and bare are the same key. None if it holds none."""
    if quoted := _QUOTED.fullmatch(value):
        key = _ESCAPED.sub(r"\1", quoted[1])
    elif _BARE.fullmatch(value):
        key = value
    else:
        return None
    return key if 0 < len(key) <= MAX_LENGTH else None
