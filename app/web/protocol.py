"""GET /v1/protocol: what a reader must know to find and check this service's scores (seed 000)."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
from starlette.responses import Response
from starlette.routing import Route

from app.nostr import nip19
from app.scores.score_event import APP_TAG, KIND, SEED_PUBKEY, score_template
from app.verifier import Check
from app.web.answers import ProtocolDocument
from app.web.operation import Answer, Operation, promises

if TYPE_CHECKING:
    from collections.abc import Collection

    from starlette.requests import Request
    from starlette.routing import BaseRoute

    from app.config import MirrorSettings, Settings

_EXAMPLE = ("alice", 72)


def key_warnings(keys: Collection[str]) -> list[str]:
    """What a reader must know of these keys before a good signature means anything."""
    if SEED_PUBKEY in keys:
        return [f"Everybody knows the secret of {SEED_PUBKEY}: its scores prove nothing."]
    return []


def protocol_document(settings: Settings | MirrorSettings) -> ProtocolDocument:
    """The protocol with this service's keys and relays in it."""
    tags, content = score_template(*_EXAMPLE)
    authors = sorted(settings.verifying_keys)
    return {
        "kind": KIND,
        "nips": [1, 9, 33],
        "app_tag": APP_TAG,
        "pubkey": settings.pubkey,
        "npub": nip19.encode(nip19.NPUB, bytes.fromhex(settings.pubkey)),
        "public_keys": authors,
        "relays": list(settings.public_relays),
        "policy": settings.score_policy,
        "example": {"tags": tags, "content": content},
        "checks": [check for check in Check if check is not Check.UNPARSABLE],
        # Relays index single letters only, so the app tag is the reader's to check.
        "filter": {"kinds": [KIND], "authors": authors},
        "documented_filter": {"kinds": [KIND], "authors": authors, "#app": [APP_TAG], "limit": 50},
        "warnings": key_warnings(settings.verifying_keys),
    }


def protocol_routes(settings: Settings | MirrorSettings) -> list[BaseRoute]:
    """The route of the document, which does not change while the service runs."""
    document = orjson.dumps(protocol_document(settings))

    @promises(Operation({200: Answer("Constants, keys, relays and filters.", ProtocolDocument)}))
    async def protocol(_request: Request) -> Response:
        """What a reader must know to find and check this service's scores."""
        return Response(document, media_type="application/json")

    return [Route("/v1/protocol", protocol)]
