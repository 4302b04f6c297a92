"""Score events signed by nostr-sdk, so that a real relay takes them and nothing of the app is involved."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

from nostr_sdk import EventBuilder, Keys, Kind, Tag, Timestamp
from websockets.asyncio.client import connect

from app.delivery.fetch import fetch
from app.delivery.model import Delivery

if TYPE_CHECKING:
    from collections.abc import Mapping


def signed_event(
    keys: Keys, name: str, score: int, created_at: int | None = None, content: str | None = None
) -> str:
    """The JSON text of a signed score event."""
    if content is None:
        content = json.dumps({"v": 1, "username": name, "score": score}, separators=(",", ":"))
    tags = [["d", name.lower()], ["app", "briscola-score"], ["username", name], ["score", str(score)]]
    builder = EventBuilder(Kind(31250), content).tags([Tag.parse(tag) for tag in tags])
    builder = builder.custom_created_at(Timestamp.from_secs(created_at or int(time.time())))
    return builder.finalize(keys).as_json()


async def publish(relay: str, *events: str) -> None:
    """Send events, as JSON text, to a relay that takes them."""
    async with connect(relay) as socket:
        for event in events:
            await socket.send(f'["EVENT",{event}]')
            kind, _, accepted, message = json.loads(await socket.recv())
            assert (kind, accepted) == ("OK", True), message


def signed_auth(keys: Keys, relay: str, challenge: str) -> str:
    """The JSON text of a signed NIP-42 event."""
    tags = [Tag.parse(["relay", relay]), Tag.parse(["challenge", challenge])]
    return EventBuilder(Kind(22242), "").tags(tags).finalize(keys).as_json()


def signed_delivery(keys: Keys, relay: str, name: str, score: int = 72, **more: object) -> Delivery:
    """A delivery of a signed score event; `more` as for `signed_event`."""
    payload = signed_event(keys, name, score, **more)  # type: ignore[arg-type] - passed on as they are
    event = json.loads(payload)
    address = f"31250:{event['pubkey']}:{name.lower()}"
    return Delivery(event["id"], relay, address, event["created_at"], payload)


async def stored(relay: str, wanted: Mapping[str, object]) -> list[object]:
    """The events that a relay holds for a filter, in its order, which must be all there are."""
    fetched = await fetch(relay, [wanted], timeout=10, limit=100)
    assert fetched.complete, fetched.reason
    return [json.loads(event.text) for event in fetched.events]
