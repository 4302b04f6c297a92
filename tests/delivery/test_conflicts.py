"""A relay says `replaced:`: what took the event's place is found out, and the store goes on from there."""

from __future__ import annotations

import json
from typing import Any

import pytest
from nostr_sdk import Keys

from app.delivery.model import Delivery, DeliveryState
from tests.delivery.case import case
from tests.relays import fake
from tests.relays.events import signed_delivery
from tests.relays.fake import Peer, nothing, ok
from tests.relays.virtual_time import virtual_time

PENDING, SUPERSEDED, CONFLICT = DeliveryState.PENDING, DeliveryState.SUPERSEDED, DeliveryState.CONFLICT
KEYS = Keys.generate()
REPLACED = ok(False, "replaced: have newer event")


@virtual_time
async def test_replaced_is_superseded_if_the_store_knows_a_newer_event() -> None:
    async with case(on_event=REPLACED) as c:
        delivery = c.post()
        c.outbox.newer.add(delivery.event_id)
        row = await c.outbox.until_state(delivery, SUPERSEDED)
        assert row.message == "replaced: have newer event"
        assert c.relay.reqs == []


def signed(relay: str, score: int, created_at: int) -> Delivery:
    return signed_delivery(KEYS, relay, "alice", score, created_at=created_at)


@virtual_time
async def test_a_conflict_is_explained_by_what_the_relay_holds(caplog: pytest.LogCaptureFixture) -> None:
    async with case(on_event=REPLACED) as c:
        newer = json.loads(signed("", 90, 1_002).payload)
        c.relay.stored[newer["id"]] = newer
        c.outbox.add(ours := signed(c.relay.url, 72, 1_001))
        row = await c.outbox.until_state(ours, CONFLICT)
        assert f"superseded there by {newer['id']}" in row.message
        assert "replaced: have newer event" in row.message
        [(relay, adopted)] = c.outbox.adopted
        assert (relay, adopted.to_dict()) == (c.relay.url, newer)
        assert (len(c.relay.events), len(c.relay.attempts), c.relay.peak_sockets) == (1, 1, 1)
    [alert] = [record.getMessage() for record in caplog.records if record.levelname == "ERROR"]
    assert all(word in alert for word in (c.relay.url, ours.event_id, ours.address, newer["id"]))


@pytest.mark.parametrize("on_req", [fake.query, nothing], ids=["holds nothing", "stalls"])
@virtual_time
async def test_a_conflict_that_the_relay_does_not_explain(on_req: Any) -> None:
    async with case(on_event=REPLACED, on_req=on_req) as c:
        row = await c.outbox.until_state(c.post(), CONFLICT)
        assert row.message == "replaced: have newer event (and it shows no newer event)"
        assert c.outbox.adopted == []
        assert len(c.relay.events) == 1


@virtual_time
async def test_a_forged_explanation_raises_nothing() -> None:
    def forge(peer: Peer, subscription: str, filters: object) -> None:
        newer = json.loads(signed("", 90, 1_002).payload)
        peer.send("EVENT", subscription, newer | {"created_at": 2_000_000_000})
        peer.send("EOSE", subscription)

    async with case(on_event=REPLACED, on_req=forge) as c:
        c.outbox.add(ours := signed(c.relay.url, 72, 1_001))
        await c.outbox.until_state(ours, CONFLICT)
        assert c.outbox.adopted == []


@virtual_time
async def test_a_relay_that_resets_when_asked_leaves_the_delivery_pending() -> None:
    async with case(on_event=REPLACED, on_req=lambda peer, *_: peer.reset()) as c:
        row = await c.first_outcome(c.post())
        assert (row.state, row.history[0].due is not None) == (PENDING, True)
        c.relay.on_req = fake.query
        await c.outbox.until_state(row.delivery, CONFLICT)
        assert c.relay.peak_sockets == 1


@virtual_time
async def test_a_store_that_does_not_take_the_relays_event_is_asked_again() -> None:
    async with case(on_event=REPLACED) as c:
        newer = json.loads(signed("", 90, 1_002).payload)
        c.relay.stored[newer["id"]] = newer

        def failing(peer: Peer, subscription: str, filters: list[dict[str, Any]]) -> None:
            c.outbox.faults += [OSError("disk full")] * 3
            fake.query(peer, subscription, filters)

        c.relay.on_req = failing
        c.outbox.add(ours := signed(c.relay.url, 72, 1_001))
        await c.outbox.until_state(ours, CONFLICT)
        assert [event.id for _, event in c.outbox.adopted] == [newer["id"]]
