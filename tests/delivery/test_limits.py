"""What a relay tells of its limits, and what follows from it in delivery."""

from __future__ import annotations

import asyncio
import json

import pytest

from app.delivery.engine import Engine
from app.delivery.limits import AHEAD_SECONDS, Limits, NoLimits, concerns_of
from app.delivery.model import DeliveryState
from app.nostr.nip11 import Limitation
from app.scores.score_event import score_template
from tests.delivery.outbox import MemoryOutbox, make_delivery
from tests.relays.fake import FakeRelay, nothing
from tests.relays.virtual_time import virtual_time

DELIVERY = make_delivery("ws://relay", created_at=10_000)


class Told:
    """Answers for a relay, and counts."""

    def __init__(self, *answers: Limitation | NoLimits) -> None:
        self.answers = list(answers)
        self.asked: list[str] = []

    async def __call__(self, relay: str) -> Limitation:
        self.asked.append(relay)
        answer = self.answers.pop(0) if len(self.answers) > 1 else self.answers[0]
        if isinstance(answer, NoLimits):
            raise answer
        return answer


async def settle() -> None:
    """Let what was begun in the background end."""
    for _ in range(5):
        await asyncio.sleep(0)


@pytest.mark.parametrize(
    ("told", "words"),
    [
        (Limitation(), []),
        (Limitation(max_message_length=1024, auth_required=True, created_at_upper_limit=0), []),
        (Limitation(payment_required=True), ["payment_required"]),
        (Limitation(min_pow_difficulty=8), ["min_pow_difficulty 8"]),
        (Limitation(max_message_length=280), ["280 bytes"]),
        (
            Limitation(max_message_length=0, min_pow_difficulty=1, payment_required=True),
            ["payment_required", "min_pow_difficulty", "0 bytes"],
        ),
    ],
)
def test_concerns(told: Limitation, words: list[str]) -> None:
    concerns = concerns_of(told)
    assert len(concerns) == len(words)
    assert all(word in concern for word, concern in zip(words, concerns, strict=True))


def test_no_message_with_a_score_is_longer_than_is_said() -> None:
    tags, content = score_template("\U00010400" * 32, 120)  # four bytes each, as its lower case takes
    event = {"id": "0" * 64, "pubkey": "0" * 64, "created_at": 10**10, "kind": 31250}
    event |= {"tags": tags, "content": content, "sig": "0" * 128}
    message = json.dumps(["EVENT", event], ensure_ascii=False, separators=(",", ":"))
    assert 800 < len(message.encode()) <= 1024


@virtual_time
async def test_they_are_asked_for_once_an_hour() -> None:
    told = Told(Limitation(created_at_upper_limit=30), NoLimits("HTTP 404"))
    limits = Limits("ws://relay", told)
    assert limits.sendable_at(DELIVERY) == 10_000 - AHEAD_SECONDS == 9_100
    for hours, asked in ((0, 1), (0.99, 1), (0.02, 2)):
        await asyncio.sleep(hours * 3600)
        limits.refresh()
        await settle()
        assert len(told.asked) == asked
        assert limits.sendable_at(DELIVERY) == 9_970, "what was told holds until something else is"


@virtual_time
async def test_a_concern_is_logged_once(caplog: pytest.LogCaptureFixture) -> None:
    limits = Limits("ws://relay", Told(Limitation(payment_required=True)))
    for _ in range(2):
        limits.refresh()
        await asyncio.sleep(3600)
    assert [record.getMessage()[:35] for record in caplog.records] == ["ws://relay: the relay asks for paym"]


def engine(outbox: MemoryOutbox, relay: FakeRelay, told: Told) -> Engine:
    clock = asyncio.get_running_loop().time
    return Engine([relay.url], outbox, sign_auth=lambda *_: None, ask_limits=told, clock=clock)


@virtual_time
async def test_a_relay_with_concerns_is_shown_and_served() -> None:
    outbox = MemoryOutbox()
    told = Told(Limitation(payment_required=True, min_pow_difficulty=20, max_message_length=1))
    async with FakeRelay() as relay, engine(outbox, relay, told) as running:
        outbox.add(delivery := make_delivery(relay.url))
        await outbox.until_state(delivery, DeliveryState.ACCEPTED)
        assert len(running.status()[0].concerns) == 3


@virtual_time
async def test_they_are_asked_for_again_while_a_connection_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("app.delivery.limits.FRESH_SECONDS", 60)
    told = Told(NoLimits("HTTP 503"), Limitation(payment_required=True))
    async with FakeRelay() as relay, engine(MemoryOutbox(), relay, told) as running:
        await asyncio.sleep(50)
        assert running.status()[0].concerns == ()
        await asyncio.sleep(20)
        assert len(running.status()[0].concerns) == 1
        assert (len(told.asked), len(relay.attempts)) == (2, 1)


@virtual_time
async def test_its_own_limit_decides_when_an_event_ahead_of_the_clock_is_sent() -> None:
    loop = asyncio.get_running_loop()
    outbox = MemoryOutbox()
    told = Told(Limitation(created_at_upper_limit=20))
    async with FakeRelay() as relay, engine(outbox, relay, told):
        created_at = int(loop.time()) + 60
        outbox.add(delivery := make_delivery(relay.url, created_at=created_at))
        await outbox.until_state(delivery, DeliveryState.ACCEPTED)
        assert created_at - 20 <= loop.time() < created_at - 17
        assert len(relay.events) == 1


@virtual_time
async def test_silence_about_a_long_event_is_explained() -> None:
    outbox = MemoryOutbox()
    async with (
        FakeRelay(on_event=nothing) as relay,
        engine(outbox, relay, Told(Limitation(max_message_length=100))),
    ):
        outbox.add(delivery := make_delivery(relay.url)._replace(payload='{"id":"x"}' + " " * 200))
        row = outbox.row(delivery)
        await outbox.until(lambda: bool(row.history))
        assert row.state is DeliveryState.PENDING
        assert row.message == (
            "no answer; it takes messages of 100 bytes (max_message_length), and this has 220"
        )


@virtual_time
async def test_limits_that_never_come_delay_nothing() -> None:
    outbox = MemoryOutbox()
    loop = asyncio.get_running_loop()

    async def never(relay: str) -> Limitation:
        await asyncio.Event().wait()
        raise AssertionError

    async with FakeRelay() as relay:
        outbox.add(delivery := make_delivery(relay.url))
        started = loop.time()
        async with Engine([relay.url], outbox, sign_auth=lambda *_: None, ask_limits=never, clock=loop.time):
            await outbox.until_state(delivery, DeliveryState.ACCEPTED)
            assert loop.time() - started < 1
            leaving = loop.time()
        assert loop.time() - leaving < 5
