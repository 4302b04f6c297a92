"""HTML from the templates, with the policy that tells browsers how little a page may do (CSP level 3)."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import TYPE_CHECKING, Any
from urllib.parse import urlsplit

import orjson
from jinja2 import Environment, FileSystemLoader, StrictUndefined
from starlette.responses import HTMLResponse, Response

from app.web.pages.assets import Assets, takes_gzip
from app.web.protocol import key_warnings

if TYPE_CHECKING:
    from collections.abc import Collection, Sequence

    from starlette.requests import Request

TEMPLATES = Path(__file__).parent / "templates"

_LEVEL = 5  # of gzip: most pages are packed for each call


class Html:
    """Renders pages for a public address.

    Args:
        public_url: what clients call; its path is put before every link.
        relays: what the pages' scripts read, and all that they may connect to.
        keys: public keys of the app in hex.
    """

    def __init__(self, public_url: str, relays: Sequence[str], keys: Collection[str]) -> None:
        self.root = root = urlsplit(public_url).path.rstrip("/")
        self.assets = Assets(root)
        policy = content_security_policy(relays)
        self._headers = {
            "Content-Security-Policy": policy,
            "Cache-Control": "no-cache",
            "Vary": "Accept-Encoding",
        }
        self._templates = Environment(
            loader=FileSystemLoader(TEMPLATES),
            autoescape=True,
            undefined=StrictUndefined,
            trim_blocks=True,
            lstrip_blocks=True,
        )
        protocol = orjson.dumps({"relays": list(relays), "keys": sorted(keys)}).decode()
        self._templates.globals.update(
            root=root, protocol=protocol, asset=self.assets.address, warnings=key_warnings(keys)
        )

    def page(self, request: Request, name: str, *, here: str, **values: Any) -> Response:
        """The page of a template, which gets `values`, under the path `here`."""
        packed = takes_gzip(request)
        return self.answer(self.render(name, here=here, packed=packed, **values), packed=packed)

    def render(self, name: str, *, here: str, packed: bool, **values: Any) -> bytes:
        """The same as bytes, with gzip if `packed`; equal ones for equal values."""
        script = self.assets.script(f"{name}.js")
        text = self._templates.get_template(f"{name}.html").render(here=here, script=script, **values)
        return gzip.compress(text.encode(), _LEVEL, mtime=0) if packed else text.encode()

    def answer(self, body: bytes, *, packed: bool, etag: str | None = None) -> Response:
        """A rendered page, with its entity tag if it has one."""
        encoding = {"Content-Encoding": "gzip"} if packed else {}
        return HTMLResponse(body, headers={**self._headers_with(etag), **encoding})

    def not_modified(self, etag: str) -> Response:
        """What says that the client has the page."""
        return Response(status_code=304, headers=self._headers_with(etag))

    def _headers_with(self, etag: str | None) -> dict[str, str]:
        return self._headers if etag is None else {**self._headers, "ETag": etag}


def content_security_policy(relays: Sequence[str]) -> str:
    """Scripts, styles and pictures from here alone, connections to the relays besides, nothing inline."""
    origins = sorted({f"{parts.scheme}://{parts.netloc}" for parts in map(urlsplit, relays)})
    return "; ".join(
        (
            "default-src 'none'",
            "script-src 'self'",
            "worker-src 'self'",
            "style-src 'self'",
            "img-src 'self'",
            " ".join(("connect-src", "'self'", *origins)),
            "form-action 'self'",
            "base-uri 'none'",
            "frame-ancestors 'none'",
        )
    )
