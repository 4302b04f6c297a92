"""Conditional requests (RFC 9110, section 13): what a client has already is not sent again."""

from __future__ import annotations

import re
from hashlib import blake2b
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from collections.abc import Iterable

    from starlette.types import Scope

_TAG = re.compile(rb'(?:W/)?("[^"]*")')


def etag_of(body: bytes) -> str:
    """A strong entity tag: the same on every replica and after a restart, as long as the bytes are."""
    return f'"{blake2b(body, digest_size=12).hexdigest()}"'


def has_it(if_none_match: Iterable[bytes], etag: str) -> bool:
    """Whether the values of If-None-Match name the tag, by weak comparison."""
    tag = etag.encode()
    return any(value.strip() == b"*" or tag in _TAG.findall(value) for value in if_none_match)


def is_known(scope: Scope, etag: str) -> bool:
    """Whether the client that makes this call has what the tag stands for."""
    return has_it((value for name, value in scope["headers"] if name == b"if-none-match"), etag)
