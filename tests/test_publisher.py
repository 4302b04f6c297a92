"""Publishing: how a score stands over its relays, and what a caller learns."""

from __future__ import annotations

import asyncio
import json

import pytest

from app.delivery.model import DeliveryState
from app.main import open_service
from app.publisher import Receipt, ScoreState, score_state
from app.scores.score import Claim
from app.store.errors import StoreUnavailable
from app.store.ledger import ClockBehind, TooFast
from app.store.matches import Tally
from app.store.scores import RelayState
from tests.relays.fake import FakeRelay, never, nothing
from tests.service import rows, settings


@pytest.mark.parametrize(
    ("states", "score"),
    [
        ("accepted", "accepted"),
        ("accepted pending", "accepted"),
        ("rejected accepted superseded conflict failed", "accepted"),
        ("pending", "pending"),
        ("pending rejected superseded", "pending"),
        ("superseded", "superseded"),
        ("superseded rejected", "superseded"),
        ("rejected", "rejected"),
        ("rejected rejected", "rejected"),
        ("conflict", "superseded"),
        ("conflict rejected", "superseded"),
        ("failed", "pending"),
        ("failed rejected", "pending"),
        ("failed superseded", "pending"),
    ],
)
def test_a_score_stands_as_its_deliveries_do(states: str, score: str) -> None:
    kinds = [DeliveryState(state) for state in states.split()]
    assert score_state(kinds) == score
    assert score_state(kinds[::-1]) == score


def test_a_receipt_is_the_object_that_clients_get() -> None:
    relay = RelayState("wss://x", DeliveryState.REJECTED, 'said "no"', 2)
    receipt = Receipt("ab", '{"id":"ab"}', "31250:k:d", ScoreState.REJECTED, (relay,))
    assert json.loads(receipt.to_json()) == {
        "event": {"id": "ab"},
        "address": "31250:k:d",
        "state": "rejected",
        "relays": [{"url": "wss://x", "state": "rejected", "message": 'said "no"', "attempts": 2}],
        "proof": None,
    }


async def test_without_waiting_the_answer_comes_once_it_is_on_disk(url: str) -> None:
    async with (
        FakeRelay(on_event=nothing) as relay,
        open_service(settings(url, [relay.url])) as service,
    ):
        receipt = await service.publisher.publish(Claim("alice", 72))
        assert rows(url, "SELECT id FROM event") == [(receipt.event_id,)]
        assert receipt.state == "pending"
        assert await service.publisher.find(receipt.event_id) == receipt
        none = Tally(0, 0, 0)
        assert await service.publisher.latest("ALICE") == (receipt._replace(matches=none), none)


async def test_waiting_ends_when_the_service_stops(url: str) -> None:
    async with (
        FakeRelay(on_handshake=never) as relay,
        open_service(settings(url, [relay.url])) as service,
    ):
        waiting = asyncio.create_task(service.publisher.publish(Claim("alice", 72), wait=1000))
        other = await service.publisher.publish(Claim("bob", 72))
        service.publisher.stop_waiting()
        assert (await waiting).state == "pending"
        assert (await service.publisher.publish(Claim("carol", 1), wait=1000)).state == "pending"
        assert other.state == "pending"


async def test_what_cannot_be_signed_raises_and_nothing_is_signed(url: str) -> None:
    now = [1_700_000_000.0]
    async with open_service(settings(url), lambda: now[0]) as service:
        for _ in range(61):
            await service.publisher.publish(Claim("alice", 1))
        with pytest.raises(TooFast):
            await service.publisher.publish(Claim("alice", 1))
        now[0] -= 61
        with pytest.raises(ClockBehind):
            await service.publisher.publish(Claim("bob", 1))
        await service.store.close()
        with pytest.raises(StoreUnavailable):
            await service.publisher.publish(Claim("carol", 1))
    assert rows(url, "SELECT count(*) FROM event") == [(61,)]
