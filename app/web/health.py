"""GET /healthz: the process runs. GET /readyz: it can do its work; relays are shown only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
from starlette.responses import Response
from starlette.routing import Route

from app.delivery.relay_reader import ReaderState
from app.nostr.relay_url import public_relay_url
from app.store.errors import StoreUnavailable
from app.store.refusals import ClockBehind
from app.web.answers import AliveDocument, ReadinessDocument
from app.web.operation import Answer, Operation, promises

if TYPE_CHECKING:
    from collections.abc import Mapping

    from starlette.requests import Request
    from starlette.routing import BaseRoute

    from app.delivery.engine import Engine
    from app.store.ledger import Ledger
    from app.store.store import Store
    from app.web.answers import RelayDocument
    from app.web.live_board import LiveBoard


_READINESS = Operation(
    {200: Answer("Ready.", ReadinessDocument), 503: Answer("Not ready.", ReadinessDocument)}
)


@promises(Operation({200: Answer("It does.", AliveDocument)}))
async def alive(_request: Request) -> Response:
    """Whether the process answers."""
    return _json({"status": "ok"})


class Health:
    """The two probes of a service that signs."""

    def __init__(self, store: Store, ledger: Ledger, engine: Engine, unread: Mapping[str, str]) -> None:
        """`unread`: relay -> what is to be known of it since the start."""
        self._store = store
        self._ledger = ledger
        self._engine = engine
        self._unread = unread

    def routes(self) -> list[BaseRoute]:
        """The routes."""
        return [Route("/healthz", alive), Route("/readyz", self.ready)]

    @promises(_READINESS)
    async def ready(self, _request: Request) -> Response:
        """Whether a score posted now would be signed and stored; relays are shown only."""
        checks = {"store": "ok", "clock": "ok"}
        try:
            await self._store.check_writable()
            await self._store.read(self._ledger.check_clock)
        except StoreUnavailable as error:
            checks["store"] = str(error)
        except ClockBehind as error:
            checks["clock"] = str(error)
        relays: list[RelayDocument] = [
            {
                "url": public_relay_url(relay.url),
                "connected": relay.connected,
                "last_message": relay.last_message,
                "last_error": relay.last_error,
                "concerns": [*relay.concerns, *filter(None, [self._unread.get(relay.url)])],
            }
            for relay in self._engine.status()
        ]
        return _readiness(checks, relays)


class MirrorHealth:
    """The two probes of a mirror: it is ready once a relay has been read, and stays so on what it has."""

    def __init__(self, board: LiveBoard) -> None:
        self._board = board
        self._was_read = False

    def routes(self) -> list[BaseRoute]:
        """The routes."""
        return [Route("/healthz", alive), Route("/readyz", self.ready)]

    @promises(_READINESS)
    async def ready(self, _request: Request) -> Response:
        """Whether there is a board to show: some relay has been read; how each one stands is shown."""
        readings = self._board.relays
        self._was_read = self._was_read or any(relay.state is ReaderState.LIVE for relay in readings)
        relays: list[RelayDocument] = [
            {
                "url": public_relay_url(relay.url),
                "connected": relay.state in {ReaderState.READING, ReaderState.LIVE},
                "last_message": "",
                "last_error": relay.reason,
                "concerns": [],
            }
            for relay in readings
        ]
        return _readiness({"board": "ok" if self._was_read else "no relay has been read yet"}, relays)


def _readiness(checks: dict[str, str], relays: list[RelayDocument]) -> Response:
    ready = set(checks.values()) == {"ok"}
    document: ReadinessDocument = {
        "status": "ok" if ready else "unavailable",
        "checks": checks,
        "relays": relays,
    }
    return _json(document, 200 if ready else 503)


def _json(document: object, status: int = 200) -> Response:
    return Response(
        orjson.dumps(document), status, {"Cache-Control": "no-store"}, media_type="application/json"
    )
