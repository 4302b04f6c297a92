"""Which pages of other origins may call, and read the answers (the CORS protocol of the Fetch standard).

Public reads answer any origin. What signs in answers the configured origins only. Credentials that a browser
adds by itself are never asked for: clients sign in with an Authorization header of their own making.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.web.problems import Problem

if TYPE_CHECKING:
    from starlette.types import Scope

Headers = list[tuple[bytes, bytes]]

_READS = frozenset({"GET", "HEAD"})
# Calls with a body that anybody may make.
_PUBLIC_POSTS = frozenset({"/v1/verify", "/protocol/check"})
_METHODS = b"GET, HEAD, POST, DELETE"
_PUBLIC_FIELDS = b"Content-Type, If-None-Match, Last-Event-ID"
_FIELDS = b"Authorization, Content-Type, Idempotency-Key, If-None-Match, Last-Event-ID, Prefer"
_MAX_AGE = b"7200"  # the most that Chromium keeps

_EXPOSE = (b"access-control-expose-headers", b"*")  # all: no call is made with a browser's own credentials
_ANY = (b"access-control-allow-origin", b"*")
_VARY = (b"vary", b"Origin")
ANYBODY: Headers = [_ANY, _EXPOSE]
"""What goes with an answer that any page may read."""

_NOBODY: Headers = [_VARY]
_PREFLIGHT_VARY = (
    b"vary",
    b"Origin, Access-Control-Request-Method, Access-Control-Request-Headers",
)


class Cors:
    """Decides for each call what a browser may do with it.

    Args:
        origins: those whose pages may sign in.
    """

    def __init__(self, origins: frozenset[str]) -> None:
        self._allowed: dict[bytes, Headers] = {
            origin.encode(): [(b"access-control-allow-origin", origin.encode()), _VARY, _EXPOSE]
            for origin in origins
        }

    def answer_headers(self, scope: Scope) -> Headers:
        """What goes with the answer to a call, whatever its status is."""
        origin = None
        signs_in = False
        for name, value in scope["headers"]:
            if name == b"origin":
                origin = value
            elif name == b"authorization":
                signs_in = True
        if is_public(scope["method"], scope["path"]) and not signs_in:
            return ANYBODY
        return self._allowed.get(origin, _NOBODY) if origin is not None else _NOBODY

    def preflight(self, scope: Scope) -> Headers | None:
        """What answers a preflight request; None if the call is none.

        Raises:
            Problem: 403, if pages of that origin may not make the call.
        """
        if scope["method"] != "OPTIONS":
            return None
        fields = dict(scope["headers"])
        origin, method = fields.get(b"origin"), fields.get(b"access-control-request-method")
        if origin is None or method is None:
            return None
        if origin in self._allowed:
            allowed, names = origin, _FIELDS
        elif is_public(method.decode("latin-1"), scope["path"]):
            allowed, names = b"*", _PUBLIC_FIELDS
        else:
            raise Problem("origin-not-allowed")
        return [
            (b"access-control-allow-origin", allowed),
            (b"access-control-allow-methods", _METHODS),
            (b"access-control-allow-headers", names),
            (b"access-control-max-age", _MAX_AGE),
            _PREFLIGHT_VARY,
        ]


def is_public(method: str, path: str) -> bool:
    """Whether anybody may make this call."""
    return method in _READS or (method == "POST" and path in _PUBLIC_POSTS)
