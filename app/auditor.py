"""Reading all that relays hold under the app's keys, for an audit; what is known is asked for by its id."""

from __future__ import annotations

import asyncio
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import orjson

from app.audit import Held, Newest, examine, is_ours
from app.delivery.connection import ConnectError
from app.delivery.fetch import fetch
from app.nostr import nip09
from app.scores.score_event import KIND
from app.verifier import verify_many

if TYPE_CHECKING:
    from collections.abc import Iterator, Mapping, Sequence

    from app.delivery.read_session import Received

READ_SECONDS = 600.0
READ_EVENTS = 500_000
_BATCH = 50  # a page of so few is whole, unless the relay keeps many versions of each


@dataclass(slots=True)
class Reading:
    """What one relay sent.

    Attributes:
        events: as they came, by their text.
        incomplete: why not everything may have been seen; empty if it has.
        error: why nothing could be read; empty if it could.
    """

    relay: str
    events: dict[bytes, Received] = field(default_factory=dict)
    incomplete: str = ""
    error: str = ""


async def read_relays(
    relays: Sequence[str], keys: frozenset[str], newest: Mapping[str, Newest] | None
) -> list[Reading]:
    """Read relays side by side.

    Args:
        newest: what they should hold of each player, to be asked for by name and id; None without a store.
    """
    return await asyncio.gather(*(_read(relay, keys, newest or {}) for relay in relays))


async def _read(relay: str, keys: frozenset[str], newest: Mapping[str, Newest]) -> Reading:
    reading = Reading(relay)
    authors = sorted(keys)
    try:
        reading.incomplete = await _fetch(
            reading, [{"kinds": [kind], "authors": authors} for kind in (KIND, nip09.KIND)]
        )
        if reading.incomplete and not reading.events:
            reading.error = reading.incomplete
            return reading
        seen = {received.event_id for received in reading.events.values()}
        unseen = [wanted.event_id for wanted in newest.values() if wanted.event_id not in seen]
        # If not every answer comes, what is missing cannot be told from what was not said.
        reading.error = await _fetch(reading, [{"ids": batch} for batch in _batches(unseen)])
        if reading.incomplete:
            # Without `kinds`: with it nostr-sdk's relay takes this for one address and answers one name.
            await _fetch(reading, [{"authors": authors, "#d": batch} for batch in _batches(sorted(newest))])
    except ConnectError as error:
        reading.error = str(error)
    return reading


async def _fetch(reading: Reading, filters: Sequence[Mapping[str, object]]) -> str:
    """Add what matches any of the filters; returns why that may not be everything."""
    if not filters:
        return ""
    fetched = await fetch(reading.relay, filters, timeout=READ_SECONDS, limit=READ_EVENTS)
    for received in fetched.events:
        reading.events.setdefault(received.text, received)
    return fetched.reason


def _batches(values: list[str]) -> Iterator[list[str]]:
    for start in range(0, len(values), _BATCH):
        yield values[start : start + _BATCH]


def judge(reading: Reading, keys: frozenset[str]) -> list[Held]:
    """What a relay holds under the app's keys; call it without an event loop, so that it has every core."""
    ours = [(fields, text) for text in reading.events if is_ours(fields := _fields(text), keys)]
    verdicts = verify_many([text for _, text in ours], keys)
    return [
        examine(fields, text, verdict, keys) for (fields, text), verdict in zip(ours, verdicts, strict=True)
    ]


def _fields(text: bytes) -> dict[str, object]:
    try:
        fields = orjson.loads(text)
    except orjson.JSONDecodeError:
        return {}
    return fields if isinstance(fields, dict) else {}
