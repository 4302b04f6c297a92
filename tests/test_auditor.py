"""Reading relays for an audit: past caps and crowded seconds, and what is said where that cannot be."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest
from nostr_sdk import Keys

from app.audit import Newest
from app.auditor import Reading, judge, read_relays
from tests.relays.events import publish, signed_event
from tests.relays.fake import FakeRelay, Peer, query, resetting
from tests.relays.real import rust_relay, without_rate_limit
from tests.service import NOWHERE

if TYPE_CHECKING:
    from nostr_sdk import LocalRelayBuilder

OURS, THEIRS = Keys.generate(), Keys.generate()
KEYS = frozenset({OURS.public_key().to_hex()})
CAP, CROWD, OTHERS = 120, 200, 130
SECOND = 1_700_000_000


def capped(builder: LocalRelayBuilder) -> LocalRelayBuilder:
    return without_rate_limit(builder).default_filter_limit(CAP).max_filter_limit(CAP)


def names_of(reading: Reading) -> set[str]:
    return {name for held in judge(reading, KEYS) if held.signed for name in held.names}


async def test_a_crowded_second_hides_nothing_that_is_known() -> None:
    events = {f"c{number}": signed_event(OURS, f"c{number}", 1, SECOND) for number in range(CROWD)}
    for number in range(OTHERS):
        events[f"p{number}"] = signed_event(OURS, f"p{number}", 1, SECOND - OTHERS // 2 + number)
    outside = {f"p{number}" for number in range(OTHERS) if number != OTHERS // 2}  # that one is in the crowd
    ids = {name: json.loads(event)["id"] for name, event in events.items()}
    known = {name: Newest(event_id, SECOND) for name, event_id in ids.items()}
    known["nobody"] = Newest("0" * 64, SECOND)
    async with rust_relay(capped) as url:
        await publish(url, *events.values(), signed_event(THEIRS, "stranger", 1))
        (alone,) = await read_relays([url], KEYS, None)
        (asked,) = await read_relays([url], KEYS, known)
    assert "second" in alone.incomplete
    assert len(names_of(alone)) < len(events)
    assert names_of(alone) >= outside, "those before and after the crowd"
    assert names_of(asked) == set(events)
    assert (asked.error, asked.incomplete) == ("", alone.incomplete)


async def test_a_relay_is_read_whole_past_its_cap() -> None:
    events = [signed_event(OURS, f"p{number}", 1, SECOND + number) for number in range(2 * CAP + 7)]
    async with rust_relay(capped) as url:
        await publish(url, *events)
        (reading,) = await read_relays([url], KEYS, None)
    assert len(names_of(reading)) == len(events)
    assert (reading.incomplete, reading.error) == ("", "")


async def test_a_name_is_asked_for_where_the_relay_holds_something_older() -> None:
    """Where not everything came, an older version is found by its name, and not only missed by its id."""
    crowd = [signed_event(OURS, f"c{number}", 1, SECOND) for number in range(CROWD)]
    async with rust_relay(capped) as url:
        await publish(url, *crowd)
        newer = {f"c{number}": Newest(f"{number:064x}", SECOND + 1) for number in range(CROWD)}
        (reading,) = await read_relays([url], KEYS, newer)
    assert len(names_of(reading)) == CROWD


def refusing(peer: Peer, subscription: str, filters: object) -> None:
    peer.send("CLOSED", subscription, "restricted: members only")


@pytest.mark.parametrize(
    ("relay", "words"),
    [
        (FakeRelay(on_req=refusing), "members only"),
        (FakeRelay(on_req=lambda peer, *_: resetting(peer)), "reset"),
        (FakeRelay(on_req=lambda peer, *_: peer.close(1008, "go away")), "go away"),
    ],
    ids=["refuses", "resets", "hangs up"],
)
async def test_a_relay_that_is_not_read_says_why_and_costs_another_nothing(
    relay: FakeRelay, words: str
) -> None:
    async with relay, FakeRelay() as good:
        event = json.loads(signed_event(OURS, "alice", 72))
        good.stored[event["id"]] = event
        bad, nowhere, fine = await read_relays([relay.url, NOWHERE, good.url], KEYS, {})
    assert words in bad.error
    assert "refused" in nowhere.error.lower() or "connect" in nowhere.error.lower()
    assert (fine.error, names_of(fine)) == ("", {"alice"})


async def test_what_others_signed_is_left_out() -> None:
    async with FakeRelay() as relay:
        relay.on_req = lambda peer, subscription, _: (
            peer.send("EVENT", subscription, json.loads(signed_event(THEIRS, "alice", 72))),
            peer.send("EOSE", subscription),
        )  # type: ignore[assignment, return-value]
        (reading,) = await read_relays([relay.url], KEYS, {})
    assert judge(reading, KEYS) == []


async def test_what_is_asked_for_and_not_answered_is_not_called_missing() -> None:
    """A relay that breaks off in the middle of the answers has not said that it lacks the rest."""
    event = json.loads(signed_event(OURS, "alice", 72))

    def answer(peer: Peer, subscription: str, filters: list[dict[str, Any]]) -> None:
        if "ids" in filters[0]:
            peer.close(1011, "broken")
        else:
            query(peer, subscription, filters)

    async with FakeRelay(on_req=answer, stored={event["id"]: event}) as relay:
        (reading,) = await read_relays([relay.url], KEYS, {"bob": Newest("0" * 64, SECOND)})
    assert "broken" in reading.error
