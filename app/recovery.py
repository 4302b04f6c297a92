"""Beginning where the relays are: a fresh store reads them once before it signs anything.

A database that was lost, or never restored, must not sign a score that the relays hold for an older one.
"""

from __future__ import annotations

import asyncio
import logging
from collections import defaultdict
from typing import TYPE_CHECKING

from app.delivery.connection import ConnectError
from app.delivery.fetch import fetch
from app.delivery.status import about
from app.nostr import nip09
from app.nostr.event import InvalidEvent, parse_event, verify_event
from app.nostr.relay_url import public_relay_url
from app.scores.score_event import KIND
from app.store.adoption import subject_of

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from app.delivery.read_session import Received
    from app.nostr.event import Event
    from app.store.outbox import StoreOutbox

READ_SECONDS = 8.0
EVENT_LIMIT = 200_000
_CHUNK = 500

log = logging.getLogger(__name__)


async def recover(relays: Sequence[str], keys: Collection[str], outbox: StoreOutbox) -> dict[str, str]:
    """Have a fresh store take over the newest events that the relays hold; does nothing to any other.

    Args:
        relays: their URLs.
        keys: the app's public keys, hex, older ones included.

    Returns:
        Relay -> why it was not read, or not whole. A score there may be newer than what is signed next: then
        that relay refuses it, and the conflict is found and settled.

    Raises:
        StoreUnavailable: the store does not answer.
    """
    if not await outbox.is_fresh():
        return {}
    readings = await asyncio.gather(*(_read(relay, keys) for relay in relays))
    held = [(relay, event) for relay, (events, _) in zip(relays, readings, strict=True) for event in events]
    ahead = 0
    for start in range(0, len(held), _CHUNK):
        ahead += (await outbox.adopt_all(held[start : start + _CHUNK])).count(False)
    if held:
        log.warning("the store is new: took over %d events that relays hold", len(held) - ahead)
    if ahead:
        log.error("%d events of this app's key are too far ahead of the clock to go on from", ahead)
    unread = {relay: reason for relay, (_, reason) in zip(relays, readings, strict=True) if reason}
    for relay, reason in unread.items():
        log.warning("%s: %s", public_relay_url(relay), reason, extra=about(relay))
    return unread


async def _read(relay: str, keys: Collection[str]) -> tuple[list[Event], str]:
    """The newest event of each name that the relay holds, and why there may be more."""
    wanted = {"kinds": [KIND, nip09.KIND], "authors": [*keys]}
    try:
        fetched = await fetch(relay, [wanted], timeout=READ_SECONDS, limit=EVENT_LIMIT)
    except ConnectError as error:
        return [], f"could not be read before the new store began: {error}"
    events = await asyncio.to_thread(_newest, fetched.events, keys)
    reason = f"was not read whole before the new store began: {fetched.reason}" if fetched.reason else ""
    return events, reason


def _newest(received: Iterable[Received], keys: Collection[str]) -> list[Event]:
    """The newest verified event of each name."""
    by_name: defaultdict[str, list[Event]] = defaultdict(list)
    for one in received:
        try:
            event = parse_event(one.text)
        except InvalidEvent:
            continue
        if event.pubkey in keys and (subject := subject_of(event)) is not None:
            by_name[subject.d].append(event)
    newest = []
    for events in by_name.values():
        events.sort(key=lambda event: (-event.created_at, event.id))
        newest += [event for event in (next(filter(verify_event, events), None),) if event is not None]
    return newest
