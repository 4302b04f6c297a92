"""The leaderboard in a real Chromium against relays that lie, stall, flood and give only a part."""

from __future__ import annotations

import json
import random
import re
import time
from typing import Any

import pytest

from app.scores.leaderboard import Leaderboard
from app.scores.signed_score import Deletion, SignedScore
from tests.browser import page
from tests.relays.fake import FakeRelay, Peer, never, query
from tests.service import PUBKEY
from tests.web.boards import Source
from tests.web.pages.browsing import AT, KEYS, OTHER, READY, ROWS, board, deletion, holding, signed, telling
from tests.web.pages.site import site

pytestmark = pytest.mark.usefixtures("bundle")


async def test_nothing_forged_is_ever_shown(chromium: str) -> None:
    good, fresh = signed("alice", 50, 100), signed("bob", 40, 100)
    lies = [
        {**signed("mallory", 120), "sig": "0" * 128},
        {**good, "sig": fresh["sig"]},  # the id of a real one
        {**signed("alice", 120), "created_at": AT + 1},
        signed("mallory", 120, keys=OTHER),
        {**signed("mallory", 120, keys=OTHER), "pubkey": PUBKEY},
        signed("mallory", 120, content='{"v":1,"username":"mallory","score":1}'),
        signed("mallory", 120, content='{"v":2,"username":"mallory","score":120}'),
        signed("mallory", 120, -3600),  # an hour ahead
        {**deletion([["a", f"31250:{PUBKEY}:alice"]]), "sig": "0" * 128},
        deletion([["a", f"31250:{PUBKEY}:alice"]], keys=OTHER),
        {"kind": 31250, "pubkey": PUBKEY, "created_at": 1, "tags": "x"},
    ]
    async with (
        telling(*lies) as liar,
        holding(good, fresh) as honest,
        page(chromium) as tab,
        site(Source(), relays=[liar.url, honest.url], clock=time.time) as url,
    ):
        await tab.go(url)
        await tab.until("document.querySelectorAll('#board tbody tr').length === 2")
        await tab.until("document.querySelectorAll('.relays [data-state=live]').length === 2")
        assert await tab.evaluate(ROWS) == [["1", "alice", "50"], ["2", "bob", "40"]]
        told = await tab.evaluate("document.querySelector('#trust .more p').textContent")
        assert re.search(
            "[45] forged events were refused", told
        )  # one may come when a real one stands already
        assert "1 event from the future must wait." in told
        assert tab.faults == []


async def test_what_no_signature_covers_is_not_shown(chromium: str) -> None:
    alice = signed("alice", 50)
    async with (
        telling({"note": "sent by a relay", **alice}) as relay,
        page(chromium) as tab,
        site(Source(), relays=[relay.url], clock=time.time) as url,
    ):
        assert await board(tab, url) == [["1", "alice", "50"]]
        await tab.click(".check")
        assert json.loads(await tab.evaluate("document.querySelector('#dialog pre').textContent")) == alice


async def test_what_is_no_message_is_passed_over(chromium: str) -> None:
    alice = signed("alice", 50)

    def babble(peer: Peer, subscription: str, filters: list[dict[str, Any]]) -> None:
        peer.send_text("no JSON", "null", "{}", "[]", '["EOSE"]', '["EVENT"]', '["NOTICE","hello"]')
        peer.send_binary(b'["EOSE","scores"]')
        query(peer, subscription, filters)

    async with (
        FakeRelay(stored={alice["id"]: alice}, on_req=babble) as relay,
        page(chromium) as tab,
        site(Source(), relays=[relay.url], clock=time.time) as url,
    ):
        assert await board(tab, url) == [["1", "alice", "50"]]
        assert tab.faults == []


async def test_who_keeps_forging_is_heard_no_more(chromium: str) -> None:
    lies = [{**signed(f"m{number}", 120), "sig": "0" * 128} for number in range(50)]
    async with (
        telling(*lies) as liar,
        holding(signed("alice", 50)) as honest,
        page(chromium) as tab,
        site(Source(), relays=[liar.url, honest.url], clock=time.time) as url,
    ):
        await tab.go(url)
        await tab.until("document.querySelector('.relays li').dataset.state === 'dropped'")
        await liar.until(lambda: liar.open_sockets == 0)
        assert await board(tab, url) == [["1", "alice", "50"]]
        assert await tab.until("document.querySelector('#notice').textContent") == (
            "Not every relay has told all it has, so scores may be missing."
        )


def python_board(events: list[dict[str, Any]]) -> list[list[str]]:
    """The same events on the server's board."""
    made = Leaderboard()
    for event in events:
        if event["kind"] == 5:
            names = {tag[1].split(":", 2)[2] for tag in event["tags"] if tag[0] == "a"}
            ids = {tag[1] for tag in event["tags"] if tag[0] == "e"}
            entry: Any = Deletion(event["id"], event["created_at"], frozenset(names), frozenset(ids))
        else:
            content = json.loads(event["content"])
            row = (content["username"], content["score"], event["created_at"], event["id"], "")
            entry = SignedScore(*row)
        made.add(entry, time.time())
    return [[str(rank), row.username, str(row.score)] for rank, row in made.ranking.page(len(made))]


@pytest.mark.parametrize("seed", [1, 2])
async def test_the_browsers_board_is_the_servers(chromium: str, seed: int) -> None:
    """Ties, versions, two keys of the app, deletions, the future: in any order, from two relays."""
    drawn = random.Random(seed)
    names = ["alice", "Alice", "bob", "José", "josé", "ΣΊΣΥΦΟΣ", "σίσυφος", "İzmir", "x-1", "x.2", "田中"]
    events = []
    for _ in range(60):
        age = drawn.choice([*range(5), 600, 86_000, 10_000_000, -5000])
        name = drawn.choice(names)
        events.append(signed(name, drawn.randrange(60, 70), age, drawn.choice([KEYS, OTHER])))
    for age in (2, 3, 600):
        target = drawn.choice(events)
        events.append(deletion([["e", target["id"]], ["a", f"31250:{PUBKEY}:bob"]], age, OTHER))
    drawn.shuffle(events)
    expected = python_board(events)
    assert len(expected) > 3
    async with holding(*events[:45]) as one, holding(*events[30:]) as two, page(chromium) as tab:
        relays, keys = [one.url, two.url], [PUBKEY, OTHER.public_key().to_hex()]
        async with site(Source(), relays=relays, keys=keys, clock=time.time) as url:
            await tab.go(url)
            await tab.until("document.querySelectorAll('.relays [data-state=live]').length === 2")
            await tab.until(READY)
            await tab.until(f"document.querySelectorAll('#board tbody tr').length === {len(expected)}")
            assert await tab.evaluate(ROWS) == expected
            assert tab.faults == []


async def test_more_scores_than_a_relay_gives_at_once(chromium: str) -> None:
    """400 players over a cap of 150; then 250 of one second, of which not all can be had."""

    def capped(peer: Peer, subscription: str, filters: list[dict[str, Any]]) -> None:
        until = filters[0].get("until", 2**53)
        found = [event for event in peer.relay.stored.values() if event["created_at"] <= until]
        found.sort(key=lambda event: -event["created_at"])
        peer.send_text(*(json.dumps(["EVENT", subscription, event]) for event in found[:150]))
        peer.send("EOSE", subscription)

    spread = [signed(f"p{number}", number % 121, number) for number in range(400)]
    crowd = [signed(f"p{number}", 1, 5000) for number in range(250)]
    async with (
        holding(*spread) as relay,
        page(chromium) as tab,
        site(Source(), relays=[relay.url], clock=time.time) as url,
    ):
        relay.on_req = capped
        await board(tab, url)
        assert "400 players · 1 relay" in await tab.text("#trust summary")
        assert len(await tab.evaluate(ROWS)) == 100
        await tab.click("#further a")
        await tab.until("document.querySelectorAll('#board tbody tr').length === 200")
        relay.stored = {event["id"]: event for event in (*crowd, *spread[250:])}
        await board(tab, url)
        assert "300 players · 0 of 1 relay" in await tab.text("#trust summary")
        told = await tab.evaluate("document.querySelector('.relays').textContent")
        assert "more scores in one second than it gives" in told


async def test_a_relay_that_refuses_leaves_the_board_partial(chromium: str) -> None:
    async with holding(signed("alice", 72)) as honest, FakeRelay() as other, page(chromium) as tab:
        other.on_req = lambda peer, subscription, _: peer.send("CLOSED", subscription, "restricted: no")
        async with site(Source(), relays=[honest.url, other.url], clock=time.time) as url:
            assert await board(tab, url) == [["1", "alice", "72"]]
            await tab.until("document.querySelector('.relays [data-state=away]')")
            assert "1 player · 1 of 2 relays" in await tab.text("#trust summary")
            assert (
                await tab.text("#notice") == "Not every relay has told all it has, so scores may be missing."
            )
            # It comes to its senses, and the board is whole.
            other.on_req = honest.on_req
            await tab.until("document.querySelectorAll('.relays [data-state=live]').length === 2")
            await tab.until("document.querySelector('#notice').hidden")
            assert "1 player · 2 relays" in await tab.text("#trust summary")


HURRY = """const unhurried = setTimeout;
window.setTimeout = (act, ms, ...more) => unhurried(act, ms === 8000 ? 200 : ms, ...more);"""


async def test_relays_that_stall_are_not_waited_for(chromium: str) -> None:
    """One never shakes hands, one never ends what it has to say: the deadline is shortened in the page."""
    good = signed("alice", 72)
    async with (
        holding(good) as honest,
        FakeRelay(on_handshake=never) as mute,
        FakeRelay(on_req=lambda peer, subscription, _: peer.send("EVENT", subscription, good)) as endless,
        page(chromium) as tab,
        site(Source(), relays=[mute.url, endless.url, honest.url], clock=time.time) as url,
    ):
        await tab.beforehand(HURRY)
        assert await board(tab, url) == [["1", "alice", "72"]]
        told = "document.querySelector('.relays').textContent"
        await tab.until(f"{told}.includes('gave no answer') && {told}.includes('stopped answering')")
        assert await tab.text("#trust summary") == "Verified in your browser 1 player · 1 of 3 relays"


@pytest.mark.parametrize(("count", "padding"), [(20_001, 0), (501, 100_000)])
async def test_a_flood_is_cut_off(chromium: str, count: int, padding: int) -> None:
    event = json.dumps(["EVENT", "scores", signed("mallory", 120, keys=OTHER)]) + " " * padding
    async with (
        holding(signed("alice", 72)) as honest,
        FakeRelay(on_req=lambda peer, *_: peer.send_text(*[event] * count)) as flood,
        page(chromium) as tab,
        site(Source(), relays=[flood.url, honest.url], clock=time.time) as url,
    ):
        assert await board(tab, url) == [["1", "alice", "72"]]
        await tab.until("document.querySelector('.relays li').dataset.state === 'dropped'")
        assert "sends too much" in await tab.evaluate("document.querySelector('.relays').textContent")
        assert await tab.evaluate(ROWS) == [["1", "alice", "72"]]
