"""A read-only mirror of somebody's scores: read from relays, verified here; no secret, no database."""

from __future__ import annotations

import time
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING

from app.web.app import make_app
from app.web.cors import Cors
from app.web.counters import Counters
from app.web.edge import Edge
from app.web.health import MirrorHealth
from app.web.leaderboard import LeaderboardRoutes
from app.web.limits import LimitAddresses, Limits, Rates
from app.web.live_board import LiveBoard, open_board
from app.web.metrics import Metrics
from app.web.origin import Origins
from app.web.pages.routes import page_routes
from app.web.protocol import protocol_routes
from app.web.read_only import ReadOnly
from app.web.relay_proofs import RelayProofs
from app.web.service_metrics import MirrorMetrics
from app.web.traffic import Traffic
from app.web.verify import Verification

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Callable

    from starlette.types import ASGIApp

    from app.config import MirrorSettings


@dataclass(frozen=True, slots=True)
class Mirror:
    """Everything that runs while the mirror is open."""

    settings: MirrorSettings
    board: LiveBoard
    counters: Counters

    def app(self, public_url: str) -> ASGIApp:
        """The HTTP application; clients reach it under `public_url`.

        It has no /.well-known/nostr.json: a mirror's domain cannot speak for somebody else's key.
        """
        limits = Limits(Rates.of(self.settings), self.counters, Origins(self.settings.trusted_proxies))
        traffic = Traffic()
        routes = [
            *LeaderboardRoutes(self.board, limits).routes(),
            *page_routes(self.settings, public_url, self.board.view, limits),
            *Verification(self.settings.verifying_keys, limits).routes(),
            *protocol_routes(self.settings),
            *MirrorHealth(self.board).routes(),
            *Metrics(traffic, MirrorMetrics(self.board).gather).routes(),
        ]
        read_only = ReadOnly(make_app(routes, public_url), public_url)
        counted = LimitAddresses(read_only, limits, lambda _: False, public_url)
        return Edge(counted, Cors(frozenset()), traffic, public_url)


@asynccontextmanager
async def open_mirror(
    settings: MirrorSettings, clock: Callable[[], float] = time.time
) -> AsyncIterator[Mirror]:
    """Read the relays until the context ends."""
    counters = Counters(settings.rate_limit_storage)
    try:
        relays, keys = settings.relays, settings.verifying_keys
        async with open_board(relays, keys, clock, RelayProofs(relays, keys)) as board:
            yield Mirror(settings, board, counters)
    finally:
        await counters.close()
