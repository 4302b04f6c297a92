"""Scores for a browser to read, and the board that it then shows."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING, Any

from nostr_sdk import EventBuilder, Keys, Kind, Tag, Timestamp

from tests.relays.events import signed_event
from tests.relays.fake import FakeRelay, Peer
from tests.service import SECRET

if TYPE_CHECKING:
    from tests.browser import Page

KEYS, OTHER = Keys.parse(SECRET), Keys.parse(f"{3:064x}")
AT = int(time.time())  # once, so that what is equally old has equal times
READY = "document.querySelector('#trust').dataset.by === 'browser'"
ROWS = """[...document.querySelectorAll("#board tbody tr")].map((row) =>
  ["rank", "username", "score"].map((name) => row.querySelector(`[data-field=${name}]`).textContent))"""


def signed(name: str, score: int, age: int = 0, keys: Keys = KEYS, **more: Any) -> dict[str, Any]:
    """A score, so many seconds old."""
    event: dict[str, Any] = json.loads(signed_event(keys, name, score, AT - age, **more))
    return event


def deletion(tags: list[list[str]], age: int = 0, keys: Keys = KEYS) -> dict[str, Any]:
    """A deletion (NIP-09), so many seconds old."""
    builder = EventBuilder(Kind(5), "").tags([Tag.parse(tag) for tag in tags])
    at = Timestamp.from_secs(AT - age)
    event: dict[str, Any] = json.loads(builder.custom_created_at(at).finalize(keys).as_json())
    return event


def holding(*events: dict[str, Any]) -> FakeRelay:
    """A relay that stores these."""
    return FakeRelay(stored={event["id"]: event for event in events})


def telling(*events: dict[str, Any]) -> FakeRelay:
    """A relay that sends these, whatever it is asked."""

    def answer(peer: Peer, subscription: str, _: object) -> None:
        for event in events:
            peer.send("EVENT", subscription, event)
        peer.send("EOSE", subscription)

    return FakeRelay(on_req=answer)


async def board(tab: Page, url: str, path: str = "/") -> list[list[str]]:
    """Open the page and wait until the browser has verified; gives the rows."""
    await tab.go(url + path)
    await tab.until(READY)
    rows: list[list[str]] = await tab.evaluate(ROWS)
    return rows
