"""What JSON Schema cannot say of a call; schemathesis loads this module by its name."""

import re
import uuid
from typing import Any

import schemathesis
from hypothesis import strategies as st

IDEMPOTENCY_KEY = "Idempotency-Key"

# How a username is made up.
schemathesis.openapi.format(
    "briscola-username", st.from_regex(r"[A-Za-z0-9_\-][A-Za-z0-9_.\-]{0,31}", fullmatch=True)
)

# A place in the order of the board: score, time and id, in base64url.
schemathesis.openapi.format("briscola-cursor", st.from_regex(r"[A-Za-z0-9_\-]{55}", fullmatch=True))


@schemathesis.hook
def map_body(_context: object, body: Any) -> Any:
    """Write whole numbers as whole numbers: 72.0 is no way to write a score."""
    if not isinstance(body, dict):
        return body
    return {name: int(v) if isinstance(v, float) and v.is_integer() else v for name, v in body.items()}


@schemathesis.hook
def before_call(_context: object, case: Any, _kwargs: dict[str, Any]) -> None:
    """Give each call an Idempotency-Key of its own, because one key goes with one body."""
    if isinstance(case.query, dict) and "around" in case.query:
        case.query.pop("cursor", None)  # a page begins behind a cursor or around a name
    headers = case.headers or {}
    if re.fullmatch("[!#-~][!-~]{0,254}", str(headers.get(IDEMPOTENCY_KEY, ""))):
        headers[IDEMPOTENCY_KEY] = uuid.uuid4().hex
