"""Every way a relay may answer, over real sockets and on virtual time, and what the delivery becomes."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest
from nostr_sdk import Keys

from app.delivery.model import DeliveryState
from tests.delivery.case import case
from tests.delivery.outbox import make_delivery
from tests.relays.events import signed_delivery
from tests.relays.fake import Peer, in_turn, nothing, ok, resetting, store, text
from tests.relays.virtual_time import virtual_time

if TYPE_CHECKING:
    from collections.abc import Callable

    from tests.relays.fake import Event

ACCEPTED, PENDING, REJECTED = DeliveryState.ACCEPTED, DeliveryState.PENDING, DeliveryState.REJECTED
FAILED = DeliveryState.FAILED


@pytest.mark.parametrize(
    "answer",
    [
        nothing,
        text(lambda event_id: json.dumps(["OK", "00" * 32, True, ""])),
        text(lambda event_id: json.dumps(["OK", event_id, "true", ""])),
        text(lambda event_id: json.dumps(["OK", event_id, True])),
        text(lambda event_id: json.dumps(["OK", "", False, "invalid: content too long"])),
        text(lambda event_id: json.dumps(["NOTICE", "invalid: message too large"])),
    ],
    ids=["silence", "other id", "text for a boolean", "three elements", "empty id", "notice"],
)
@virtual_time
async def test_what_is_no_answer_leads_to_another_attempt_on_the_same_connection(
    answer: Callable[[Peer, Event], None],
) -> None:
    async with case(on_event=in_turn(answer, store)) as c:
        delivery = c.post()
        row = await c.outbox.until_state(delivery, ACCEPTED)
        first, second = row.history
        assert (first.state, first.message, first.answered) == (PENDING, "no answer", False)
        assert (first.attempts, second.attempts) == (1, 2)
        assert c.relay.raw == [delivery.payload] * 2
        assert len(c.relay.attempts) == 1


@virtual_time
async def test_a_notice_is_kept_as_the_last_message() -> None:
    async with case(on_event=text(lambda event_id: json.dumps(["NOTICE", "too\nlarge"]))) as c:
        await c.first_outcome(c.post())
        assert c.status.last_message == "too large"


@virtual_time
async def test_a_relay_that_only_sends_notices_is_asked_what_it_holds_after_three_attempts() -> None:
    def secretive(peer: Peer, event: Event) -> None:
        peer.relay.stored[event["id"]] = event
        peer.send("NOTICE", "thanks")

    async with case(on_event=secretive) as c:
        c.outbox.add(delivery := signed_delivery(Keys.generate(), c.relay.url, "alice", created_at=1_000))
        row = await c.outbox.until_state(delivery, ACCEPTED)
        assert row.message == "read back: the relay holds it"
        assert (len(c.relay.events), len(c.relay.reqs)) == (3, 1)


@virtual_time
async def test_a_late_ok_counts() -> None:
    def late(peer: Peer, event: Event) -> None:
        asyncio.get_running_loop().call_later(10.2, store, peer, event)

    async with case(on_event=in_turn(late, nothing)) as c:
        row = await c.deliver()
        assert [outcome.state for outcome in row.history] == [PENDING, ACCEPTED]
        assert len(c.relay.events) == 1


@virtual_time
async def test_an_ok_in_the_packet_of_the_next_handshake_counts() -> None:
    def answer_at_once(peer: Peer) -> None:
        for event in peer.relay.events:
            peer.send("OK", event["id"], True, "")

    async with case(on_event=resetting, on_open=answer_at_once) as c:
        row = await c.deliver()
        assert [outcome.state for outcome in row.history] == [PENDING, ACCEPTED]
        assert len(c.relay.events) == 1


@virtual_time
async def test_a_second_ok_changes_nothing() -> None:
    def twice(peer: Peer, event: Event) -> None:
        peer.send("OK", event["id"], True, "")
        peer.send("OK", event["id"], False, "blocked: on second thoughts")

    async with case(on_event=twice) as c:
        row = await c.deliver()
        await c.deliver(1)
        assert len(row.history) == 1
        assert c.status.ignored == 2


@pytest.mark.parametrize(
    "reason", ["blocked: " + "x" * 100_000, "blocked: a\nb\r\nc\x00\N{RIGHT-TO-LEFT MARK}"]
)
@virtual_time
async def test_a_reason_is_stored_bounded_and_on_one_line(reason: str) -> None:
    async with case(on_event=ok(False, reason)) as c:
        row = await c.outbox.until_state(c.post(), REJECTED)
        assert row.message.startswith("blocked: ")
        assert row.message.isprintable()
        assert len(row.message) <= 200


@virtual_time
async def test_an_event_the_relay_calls_an_error_is_not_sent_again_and_again() -> None:
    async with case(on_event=ok(False, "error: unknown")) as c:
        delivery = c.post()
        await asyncio.sleep(300)
        row = c.outbox.row(delivery)
        assert (row.state, row.message) == (PENDING, "error: unknown")
        assert all(outcome.answered for outcome in row.history)
        assert 5 < len(c.relay.events) < 60
        assert len(c.relay.attempts) == 1


@virtual_time
async def test_a_score_refused_for_being_ahead_of_the_clock_is_sent_once_more_in_its_time() -> None:
    loop = asyncio.get_running_loop()
    async with case(on_event=ok(False, "invalid: created_at too late")) as c:
        created_at = int(loop.time()) + 30
        row = await c.outbox.until_state(c.post(created_at=created_at), REJECTED)
        assert created_at <= loop.time() < created_at + 3
        assert [outcome.state for outcome in row.history] == [PENDING, REJECTED]


@virtual_time
async def test_an_event_far_ahead_of_the_clock_is_held_back() -> None:
    loop = asyncio.get_running_loop()
    async with case() as c:
        created_at = int(loop.time()) + 1_000
        row = await c.outbox.until_state(c.post(created_at=created_at), ACCEPTED)
        assert created_at - 900 <= loop.time() < created_at - 900 + 3
        assert (len(c.relay.events), row.history[-1].attempts) == (1, 1)


@virtual_time
async def test_a_deletion_that_fails_is_asked_for_and_sent() -> None:
    """It stands at no address, so there is nothing that could have taken its place."""
    async with case(on_event=in_turn(*[ok(False, "error: busy")] * 3, store)) as c:
        delivery = make_delivery(c.relay.url)
        deletion = delivery._replace(address=delivery.event_id)
        c.outbox.add(deletion)
        await c.outbox.until_state(deletion, ACCEPTED)
        assert [len(filters) for filters in c.relay.reqs] == [1]


@virtual_time
async def test_a_delivery_that_failed_for_seven_days_rests() -> None:
    loop = asyncio.get_running_loop()
    async with case(on_event=ok(False, "error: out of order")) as c:
        since = loop.time() - 7 * 86_400 + 5
        c.outbox.add(delivery := make_delivery(c.relay.url)._replace(failing_since=since))
        row = await c.outbox.until_state(delivery, FAILED)
        assert loop.time() >= since + 7 * 86_400
        assert row.message == "given up after 7 days: error: out of order"
        assert [outcome.failing_since for outcome in row.history] == [since] * len(row.history)
        seen = len(c.relay.events)
        assert seen > 1
        await asyncio.sleep(600)
        assert len(c.relay.events) == seen
        c.relay.on_event = store
        await c.deliver(1)


@virtual_time
async def test_the_store_hears_whether_the_relay_can_be_reached() -> None:
    async with case(on_accept=lambda peer: peer.reset()) as c:
        await asyncio.sleep(60)
        assert c.outbox.notes == [(c.relay.url, False)]
        c.relay.on_accept = nothing
        await asyncio.sleep(300)
        assert c.outbox.notes == [(c.relay.url, False), (c.relay.url, True)]
