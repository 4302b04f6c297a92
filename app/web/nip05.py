"""GET /.well-known/nostr.json (NIP-05): this domain says which key is the app's, and where its scores are."""

from __future__ import annotations

from typing import TYPE_CHECKING

import orjson
from starlette.responses import Response
from starlette.routing import Route

from app.web.answers import IdentityDocument
from app.web.operation import Answer, Operation, promises

if TYPE_CHECKING:
    from collections.abc import Sequence

    from starlette.requests import Request
    from starlette.routing import BaseRoute

NAME = "_"  # NIP-05: the domain itself


def nip05_routes(pubkey: str, relays: Sequence[str]) -> list[BaseRoute]:
    """The route; `pubkey` in hex."""
    known = orjson.dumps({"names": {NAME: pubkey}, "relays": {pubkey: relays}})
    unknown = orjson.dumps({"names": {}, "relays": {}})

    @promises(Operation({200: Answer("The key, if the name is known.", IdentityDocument)}, query=("name",)))
    async def identity(request: Request) -> Response:
        """The app's key under the name `_` (NIP-05), with its relays."""
        asked = request.query_params.get("name", NAME)
        return Response(known if asked == NAME else unknown, media_type="application/json")

    return [Route("/.well-known/nostr.json", identity)]
