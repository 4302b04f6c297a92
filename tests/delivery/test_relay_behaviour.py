"""Every way a relay may behave, over real sockets and on virtual time, and what the delivery becomes."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest
from nostr_sdk import Keys

from app.delivery.engine import Engine
from app.delivery.model import DeliveryState
from tests.delivery.case import case
from tests.delivery.outbox import MemoryOutbox, make_delivery
from tests.relays import fake
from tests.relays.events import signed_delivery
from tests.relays.fake import FakeRelay, Peer, closing, in_turn, nothing, ok, resetting, respond, store, text
from tests.relays.virtual_time import virtual_time

if TYPE_CHECKING:
    from collections.abc import Callable

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
async def test_a_challenge_in_the_packet_of_the_handshake_is_not_lost() -> None:
    guard = Guard()
    async with case(on_open=guard.on_open, on_event=guard.on_event, on_auth=guard.on_auth) as c:
        await c.deliver()
        assert len(c.relay.attempts) == 1


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


@pytest.mark.parametrize(
    ("act", "words"),
    [
        (closing(1001), "1001"),
        (closing(1008, "policy\nviolation"), "1008"),
        (closing(1011), "1011"),
        (resetting, "reset"),
        (lambda peer, event: peer.transport.close(), "without a word"),
    ],
    ids=["1001", "1008", "1011", "reset", "end of file"],
)
@virtual_time
async def test_a_connection_lost_before_the_ok_brings_the_same_bytes_again(act: Any, words: str) -> None:
    async with case(on_event=in_turn(act, ok(False, "duplicate: have it"))) as c:
        delivery = c.post()
        row = await c.outbox.until_state(delivery, ACCEPTED)
        assert c.relay.raw == [delivery.payload] * 2
        assert row.history[0].message.startswith("connection lost: ")
        assert words in row.history[0].message
        assert row.message == "duplicate: have it"
        assert c.relay.peak_sockets == 1


@virtual_time
async def test_a_relay_without_pong_is_given_up_and_tried_again() -> None:
    loop = asyncio.get_running_loop()
    async with case(pong=False) as c:
        await c.relay.until(lambda: len(c.relay.attempts) == 2)
        assert 20 < loop.time() - c.relay.attempts[0] < 45
        assert c.status.last_error == "no pong within 20 s"
        assert c.relay.peak_sockets == 1


@virtual_time
async def test_a_relay_with_pong_is_kept() -> None:
    async with case() as c:
        await asyncio.sleep(600)
        assert len(c.relay.attempts) == 1


@pytest.mark.parametrize(
    ("on_handshake", "words"),
    [
        (fake.never, "no websocket handshake within 10 s"),
        (respond(200), "HTTP 200"),
        (respond(302), "HTTP 302"),
        (respond(503), "HTTP 503"),
        (lambda peer, request: peer.transport.write(b"SSH-2.0-OpenSSH_9.6\r\n"), "no websocket"),
        (lambda peer, request: peer.transport.write(b"HTTP/1.1 101 Yes\r\n\r\n"), "no websocket"),
        (lambda peer, request: peer.reset(), "reset"),
    ],
    ids=["never", "200", "302", "503", "no HTTP", "no upgrade", "reset"],
)
@virtual_time
async def test_a_failed_handshake_has_a_reason_and_is_tried_again(on_handshake: Any, words: str) -> None:
    async with case(on_handshake=on_handshake) as c:
        delivery = c.post()
        await c.relay.until(lambda: len(c.relay.attempts) == 2)
        assert words in c.status.last_error
        assert (c.outbox.claims, c.engine.accepting()) == (0, frozenset())
        c.relay.on_handshake = fake.upgrade
        await c.outbox.until_state(delivery, ACCEPTED)
        assert c.relay.peak_sockets == 1


def noise(send: Callable[[Peer], None]) -> Callable[[Peer, Event], None]:
    """Make noise before an honest answer."""

    def on_event(peer: Peer, event: Event) -> None:
        send(peer)
        store(peer, event)

    return on_event


@pytest.mark.parametrize(
    "send",
    [
        lambda peer: peer.send_text('["NOTICE","' + "x" * 2 * 1024 * 1024 + '"]'),
        lambda peer: peer.send_text(*["[]"] * 5_000),
        lambda peer: peer.send_binary(b"\x00\xff" * 100),
        lambda peer: peer.send_text("[]", "{", "null", "", "[" * 200_000, "\x00"),
        lambda peer: peer.send_in_fragments('["NOT', "ICE", '","hi"]'),
    ],
    ids=["2 MiB", "flood", "binary", "garbage", "fragments"],
)
@virtual_time
async def test_noise_does_not_hide_the_answer(send: Callable[[Peer], None]) -> None:
    async with case(on_event=noise(send)) as c:
        row = await c.deliver()
        await c.deliver(1)
        assert len(row.history) == 1
        assert len(c.relay.attempts) == 1


@virtual_time
async def test_a_message_beyond_all_bounds_ends_the_connection() -> None:
    def endless(peer: Peer, event: Event) -> None:
        peer.send_text("x" * (4 * 1024 * 1024 + 1))

    async with case(on_event=in_turn(endless, store)) as c:
        row = await c.deliver()
        assert row.history[0].message.startswith("connection lost: ")
        assert len(c.relay.attempts) == 2


@virtual_time
async def test_an_ok_in_fragments_counts() -> None:
    def on_event(peer: Peer, event: Event) -> None:
        answer = json.dumps(["OK", event["id"], True, ""])
        peer.send_in_fragments(answer[:20], answer[20:50], answer[50:])

    async with case(on_event=on_event) as c:
        await c.deliver()


@virtual_time
async def test_a_flood_is_read_slowly() -> None:
    loop = asyncio.get_running_loop()

    def flood(peer: Peer, event: Event) -> None:
        peer.send_text(*["[]"] * 50_000)
        store(peer, event)

    async with case(on_event=flood) as c:
        started = loop.time()
        row = await c.deliver()
        assert loop.time() - started > 8  # 50,000 x 0.2 ms, less what lies in buffers
        assert row.history[-1].state is ACCEPTED


@virtual_time
async def test_a_relay_that_accepts_and_resets_for_five_minutes() -> None:
    async with case(on_event=resetting) as c:
        for number in range(50):
            c.post(number)
        await asyncio.sleep(300)
        assert len(c.relay.attempts) < 60
        assert c.relay.peak_sockets == 1
        c.relay.on_event = store
        healed = asyncio.get_running_loop().time()
        await c.outbox.until(lambda: c.outbox.count(ACCEPTED) == 50)
        assert asyncio.get_running_loop().time() - healed <= 2 * 300
        assert c.relay.peak_sockets == 1


@virtual_time
async def test_a_relay_that_resets_before_the_handshake_for_five_minutes() -> None:
    async with case(on_accept=lambda peer: peer.reset()) as c:
        await asyncio.sleep(300)
        assert 5 < len(c.relay.attempts) < 60


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
