"""GET /healthz: the process runs. GET /readyz: it can sign and store scores; relays are shown only."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
from starlette.responses import Response
from starlette.routing import Route

from app.store.errors import StoreUnavailable
from app.store.refusals import ClockBehind
from app.web.answers import AliveDocument, ReadinessDocument
from app.web.operation import Answer, Operation, promises

if TYPE_CHECKING:
    from starlette.requests import Request
    from starlette.routing import BaseRoute

    from app.delivery.engine import Engine
    from app.store.ledger import Ledger
    from app.store.store import Store
    from app.web.answers import RelayDocument


class Health:
    """The two probes."""

    def __init__(self, store: Store, ledger: Ledger, engine: Engine) -> None:
        self._store = store
        self._ledger = ledger
        self._engine = engine

    def routes(self) -> list[BaseRoute]:
        """The routes."""
        return [Route("/healthz", self.alive), Route("/readyz", self.ready)]

    @promises(Operation({200: Answer("It does.", AliveDocument)}))
    async def alive(self, _request: Request) -> Response:
        """Whether the process answers."""
        return _json({"status": "ok"})

    @promises(
        Operation(
            {200: Answer("Ready.", ReadinessDocument), 503: Answer("Not ready.", ReadinessDocument)},
        )
    )
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
        ready = set(checks.values()) == {"ok"}
        relays: list[RelayDocument] = [
            {
                "url": relay.url,
                "connected": relay.connected,
                "last_message": relay.last_message,
                "last_error": relay.last_error,
                "concerns": list(relay.concerns),
            }
            for relay in self._engine.status()
        ]
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
