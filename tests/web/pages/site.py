"""The pages alone, over a board that a test fills."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import httpx

from app.config import MirrorSettings
from app.environment import load
from app.web.app import make_app
from app.web.board import BoardView
from app.web.cors import Cors
from app.web.counters import Counters
from app.web.edge import Edge
from app.web.limits import Limits, Rates
from app.web.origin import Origins
from app.web.pages.routes import page_routes
from app.web.traffic import Traffic
from tests.service import PUBKEY, PUBLIC_URL
from tests.web.boards import NOW, RELAY, Source
from tests.web.live import live

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable

    from starlette.types import ASGIApp

    from app.scores.proofs import Proofs


def pages(
    source: Source,
    public_url: str = PUBLIC_URL,
    *,
    relays: Iterable[str] = (RELAY,),
    keys: Iterable[str] = (PUBKEY,),
    clock: Callable[[], float] = lambda: NOW,
    matches: bool = False,
    proofs: Proofs | None = None,
) -> ASGIApp:
    """The application."""
    environ = {"BRISCOLA_RELAYS": ",".join(relays), "BRISCOLA_PUBLIC_KEYS": ",".join(keys)}
    settings = load(MirrorSettings, environ | {"BRISCOLA_RATE_LIMIT": "off"})[0]
    limits = Limits(Rates.of(settings), Counters(), Origins())
    routes = page_routes(settings, public_url, BoardView(source, clock, proofs), limits, matches=matches)
    return Edge(make_app(routes, public_url), Cors(frozenset()), Traffic(), public_url)


def client(app: ASGIApp) -> httpx.AsyncClient:
    """An HTTP client of it."""
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=PUBLIC_URL)


@asynccontextmanager
async def site(source: Source, **more: object) -> AsyncIterator[str]:
    """The pages on a real socket; `more` as for `pages`. Gives the address."""
    async with live(lambda url: pages(source, url, **more)) as server:  # type: ignore[arg-type] - passed on
        yield server.url
