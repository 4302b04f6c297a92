"""What JSON Schema cannot say of a body: how a username is made up, and that 72.0 is no way to write a score.

schemathesis loads this module by its name.
"""

from typing import Any

import schemathesis
from hypothesis import strategies as st

schemathesis.openapi.format("briscola-username", st.from_regex(r"[A-Za-z0-9_.\-]{1,32}", fullmatch=True))


@schemathesis.hook
def map_body(_context: object, body: Any) -> Any:
    """Write whole numbers as whole numbers."""
    if not isinstance(body, dict):
        return body
    return {name: int(v) if isinstance(v, float) and v.is_integer() else v for name, v in body.items()}
