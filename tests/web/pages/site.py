"""The pages alone, over a board that a test fills."""

from __future__ import annotations

from contextlib import asynccontextmanager
from functools import partial
from typing import TYPE_CHECKING

import httpx

from app.config import MirrorSettings
from app.environment import load
from app.web.app import make_app
from app.web.board import BoardView
from app.web.cors import Cors
from app.web.counters import Counters
from app.web.edge import Edge
from app.web.leaderboard import LeaderboardRoutes
from app.web.limits import Limits, Rates
from app.web.origin import Origins
from app.web.pages.routes import page_routes
from app.web.traffic import Traffic
from tests.service import PUBKEY, PUBLIC_URL
from tests.web.boards import NOW, RELAY, Source, board_of
from tests.web.live import live

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable, Iterable

    from starlette.types import ASGIApp

    from app.scores.proofs import Proofs
    from app.web.live_board import LiveBoard


def pages(
    source: Source,
    public_url: str = PUBLIC_URL,
    *,
    relays: Iterable[str] = (RELAY,),
    keys: Iterable[str] = (PUBKEY,),
    clock: Callable[[], float] = lambda: NOW,
    matches: bool = False,
    proofs: Proofs | None = None,
    board: LiveBoard | None = None,
) -> ASGIApp:
    """The application; `board` is what its stream tells of, `proofs` are those that the page itself shows."""
    environ = {"BRISCOLA_RELAYS": ",".join(relays), "BRISCOLA_PUBLIC_KEYS": ",".join(keys)}
    settings = load(MirrorSettings, environ | {"BRISCOLA_RATE_LIMIT": "off"})[0]
    limits = Limits(Rates.of(settings), Counters(), Origins())
    board = board or board_of(source)
    view = BoardView(source, clock, proofs)
    routes = [
        *page_routes(settings, public_url, view, limits, matches=matches),
        *LeaderboardRoutes(board, limits).routes(),
    ]
    return Edge(make_app(routes, public_url), Cors(frozenset()), Traffic(), public_url)


def client(app: ASGIApp) -> httpx.AsyncClient:
    """An HTTP client of it."""
    return httpx.AsyncClient(transport=httpx.ASGITransport(app), base_url=PUBLIC_URL)


@asynccontextmanager
async def site(
    source: Source, board: LiveBoard | None = None, *, port: int = 0, **more: object
) -> AsyncIterator[str]:
    """The pages on a real socket; other arguments as for `pages`. Gives the address."""
    told = board or board_of(source)
    made = partial(pages, source, board=told, **more)  # type: ignore[arg-type] - passed on
    async with live(made, port=port) as server:
        yield server.url
        told.close()
