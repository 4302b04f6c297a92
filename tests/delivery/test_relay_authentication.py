"""Relays that want authentication (NIP-42), over real sockets and on virtual time."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING

import pytest

from app.delivery.engine import Engine
from app.delivery.model import DeliveryState
from tests.delivery.case import case
from tests.delivery.outbox import MemoryOutbox, make_delivery
from tests.relays.fake import FakeRelay, Peer, ok, store
from tests.relays.virtual_time import virtual_time

if TYPE_CHECKING:
    from tests.relays.fake import Event

ACCEPTED, PENDING, REJECTED = DeliveryState.ACCEPTED, DeliveryState.PENDING, DeliveryState.REJECTED
FAILED = DeliveryState.FAILED


AUTH_REQUIRED = ok(False, "auth-required: members only")


class Guard:
    """A relay's own memory of who has authenticated."""

    def __init__(self, challenges: int = 1, *, at_open: bool = True) -> None:
        self.challenges = challenges
        self.at_open = at_open
        self.good = False

    def on_open(self, peer: Peer) -> None:
        if self.at_open:
            self.challenge(peer)

    def challenge(self, peer: Peer) -> None:
        for number in range(1, self.challenges + 1):
            peer.send("AUTH", f"c{number}")

    def on_event(self, peer: Peer, event: Event) -> None:
        if self.good:
            store(peer, event)
            return
        if not self.at_open:
            self.challenge(peer)
        AUTH_REQUIRED(peer, event)

    def on_auth(self, peer: Peer, event: Event) -> None:
        self.good = event["challenge"] == f"c{self.challenges}"
        peer.send("OK", event["id"], self.good, "" if self.good else "restricted: stale challenge")


@pytest.mark.parametrize("challenges", [1, 2])
@pytest.mark.parametrize("at_open", [True, False])
@virtual_time
async def test_authentication(challenges: int, at_open: bool) -> None:
    guard = Guard(challenges, at_open=at_open)
    async with case(on_open=guard.on_open, on_event=guard.on_event, on_auth=guard.on_auth) as c:
        await c.deliver()
        assert [event["challenge"] for event in c.relay.auths][-1] == f"c{challenges}"
        assert c.authenticated_to == [c.relay.url]
        assert len(set(c.relay.raw)) == 1


@virtual_time
async def test_refused_again_after_authentication_is_rejected() -> None:
    guard = Guard()
    async with case(on_open=guard.on_open, on_event=AUTH_REQUIRED, on_auth=guard.on_auth) as c:
        await c.outbox.until_state(c.post(), REJECTED)
        assert (len(c.relay.auths), len(c.relay.events)) == (1, 2)


@virtual_time
async def test_challenges_without_end_are_answered_ten_times_a_minute_and_lose_nothing() -> None:
    loop = asyncio.get_running_loop()
    asked: list[float] = []
    calm = asyncio.Event()

    def challenge(peer: Peer, event: Event) -> None:
        """Whatever comes, another challenge is the answer, and it comes before the answer to the last one."""
        if calm.is_set():
            (store if event["kind"] != 22242 else ok())(peer, event)
        elif event["kind"] == 22242:
            asked.append(loop.time())
            peer.send("AUTH", f"c{len(asked)}")
        else:
            AUTH_REQUIRED(peer, event)

    async with case(on_open=lambda peer: peer.send("AUTH", "c0"), on_event=challenge, on_auth=challenge) as c:
        delivery = c.post()
        await asyncio.sleep(600)
        assert max(sum(at <= other < at + 60 for other in asked) for at in asked) == 10
        assert c.outbox.row(delivery).history[-1].message.startswith("error: asked to authenticate more")
        calm.set()
        await c.outbox.until_state(delivery, ACCEPTED)


@virtual_time
async def test_an_authentication_goes_to_no_other_relay() -> None:
    guard = Guard()
    async with (
        FakeRelay() as other,
        FakeRelay(on_open=guard.on_open, on_event=guard.on_event, on_auth=guard.on_auth) as relay,
    ):
        outbox, asked = MemoryOutbox(), []
        deliveries = [make_delivery(other.url), make_delivery(relay.url)]
        outbox.add(*deliveries)

        def sign_auth(relay: str, challenge: str) -> str:
            asked.append(relay)
            return json.dumps({"id": "auth", "challenge": challenge})

        clock = asyncio.get_running_loop().time
        async with Engine([other.url, relay.url], outbox, sign_auth=sign_auth, clock=clock):
            await outbox.until(lambda: outbox.count(ACCEPTED) == 2)
        assert asked == [relay.url]
        assert (len(other.auths), len(relay.auths)) == (0, 1)


@virtual_time
async def test_a_challenge_in_the_packet_of_the_handshake_is_not_lost() -> None:
    guard = Guard()
    async with case(on_open=guard.on_open, on_event=guard.on_event, on_auth=guard.on_auth) as c:
        await c.deliver()
        assert len(c.relay.attempts) == 1
