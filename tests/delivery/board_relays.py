"""Relays that hold signed scores, honest and otherwise, for the reader's tests."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

from app.nostr.keys import SecretKey
from app.scores.score_event import sign_score
from tests.relays.fake import FakeRelay, OnReq, Peer, capped

if TYPE_CHECKING:
    from app.delivery.reader import Reader, ReaderRelay
    from app.nostr.event import Event

SECRET, OLD, OTHER = (SecretKey.parse(f"{n:064x}") for n in (2, 3, 4))
NOW = 1_700_000_000


def signed(name: str, score: int, created_at: int = NOW, secret: SecretKey = SECRET) -> Event:
    return sign_score(secret, username=name, score=score, created_at=created_at)


ALICE, BOB = signed("alice", 90), signed("bob", 61)


def holding(*events: Event, cap: int = 500, **script: Any) -> FakeRelay:
    """A relay that stores these; honest unless its script says otherwise."""
    script = {"on_req": capped(cap), **script}
    return FakeRelay(stored={event.id: event.to_dict() for event in events}, **script)


def saying(*texts: str, then: OnReq | None = None) -> OnReq:
    """Answer every REQ with raw texts, in which SUB stands for the subscription, and then otherwise."""

    def answer(peer: Peer, subscription: str, filters: list[dict[str, Any]]) -> None:
        peer.send_text(*(text.replace("SUB", subscription) for text in texts))
        if then is not None:
            then(peer, subscription, filters)

    return answer


def message(event: Event | dict[str, Any], subscription: str = "SUB") -> str:
    fields = event if isinstance(event, dict) else event.to_dict()
    return json.dumps(["EVENT", subscription, fields])


def publish(relay: FakeRelay, event: Event) -> None:
    """Send an event to everybody who follows."""
    relay.stored[event.id] = event.to_dict()
    for peer in relay.peers:
        peer.send_text(message(event, "live"))


def rows(reader: Reader) -> list[tuple[int, str, int]]:
    return [(rank, row.username, row.score) for rank, row in reader.board.ranking.page(1000)]


def relay_of(reader: Reader, relay: FakeRelay) -> ReaderRelay:
    return next(one for one in reader.relays if one.url == relay.url)


async def until(reader: Reader, condition: Any) -> None:
    """Wait for a change after which the condition holds."""
    async with asyncio.timeout(1000):
        if condition():
            return
        async for _ in reader.changes():
            if condition():
                return
