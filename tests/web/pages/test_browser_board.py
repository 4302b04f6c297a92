"""The leaderboard in a real Chromium, which reads the relays itself."""

from __future__ import annotations

import json
import random
import re
import time
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from nostr_sdk import EventBuilder, Keys, Kind, Tag, Timestamp

from app.scores.leaderboard import Leaderboard
from app.scores.signed_score import Deletion, SignedScore
from tests.browser import PHONE, Page, page
from tests.process import environment, serving
from tests.relays.events import signed_event
from tests.relays.fake import FakeRelay, Peer, never
from tests.service import PUBKEY, SECRET, make_key
from tests.web.boards import Source
from tests.web.pages.site import site

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("bundle")

KEYS, OTHER = Keys.parse(SECRET), Keys.parse(f"{3:064x}")
AT = int(time.time())  # once, so that what is equally old has equal times
READY = "document.querySelector('#trust').dataset.by === 'browser'"
ROWS = """[...document.querySelectorAll("#board tbody tr")].map((row) =>
  ["rank", "username", "score"].map((name) => row.querySelector(`[data-field=${name}]`).textContent))"""


def signed(name: str, score: int, age: int = 0, keys: Keys = KEYS, **more: Any) -> dict[str, Any]:
    """A score, so many seconds old."""
    event: dict[str, Any] = json.loads(signed_event(keys, name, score, AT - age, **more))
    return event


def deletion(tags: list[list[str]], age: int = 0, keys: Keys = KEYS) -> dict[str, Any]:
    """A deletion (NIP-09), so many seconds old."""
    builder = EventBuilder(Kind(5), "").tags([Tag.parse(tag) for tag in tags])
    at = Timestamp.from_secs(AT - age)
    event: dict[str, Any] = json.loads(builder.custom_created_at(at).finalize(keys).as_json())
    return event


def holding(*events: dict[str, Any]) -> FakeRelay:
    """A relay that stores these."""
    return FakeRelay(stored={event["id"]: event for event in events})


def telling(*events: dict[str, Any]) -> FakeRelay:
    """A relay that sends these, whatever it is asked."""

    def answer(peer: Peer, subscription: str, _: object) -> None:
        for event in events:
            peer.send("EVENT", subscription, event)
        peer.send("EOSE", subscription)

    return FakeRelay(on_req=answer)


async def board(tab: Page, url: str, path: str = "/") -> list[list[str]]:
    """Open the page and wait until the browser has verified; gives the rows."""
    await tab.go(url + path)
    await tab.until(READY)
    rows: list[list[str]] = await tab.evaluate(ROWS)
    return rows


async def test_a_score_that_is_posted_shows_at_once(chromium: str, rust_relay: str, tmp_path: Path) -> None:
    _, token = make_key(tmp_path / "scores.db")
    headers = {"Authorization": f"Bearer {token}", "Prefer": "wait=10"}
    async with (
        serving(environment(tmp_path, RELAYS=rust_relay)) as serve,
        httpx.AsyncClient(base_url=serve.url, headers=headers) as http,
        page(chromium) as tab,
    ):
        await http.post("/v1/scores", json={"username": "alice", "score": 72})
        assert await board(tab, serve.url) == [["1", "alice", "72"]]
        assert await tab.text("#trust summary") == "Verified in your browser 1 player · 1 relay"
        await tab.evaluate(
            "window.moved = []; Element.prototype.animate = function () {"
            " moved.push(this.querySelector('[data-field=username]').textContent); }"
        )
        answer = await http.post("/v1/scores", json={"username": "Bob", "score": 90})
        await tab.until("document.querySelectorAll('#board tbody tr').length === 2")
        assert await tab.evaluate(ROWS) == [["1", "Bob", "90"], ["2", "alice", "72"]]
        assert sorted(await tab.evaluate("window.moved")) == ["Bob", "alice"]
        assert await tab.until("document.querySelector('#news').textContent") == (
            "New: Bob with 90 points, rank 1."
        )
        await tab.click("#board tbody tr:first-child .check")
        assert await tab.text("#dialog .sum") == "All five checks pass."
        raw = await tab.evaluate("document.querySelector('#dialog pre').textContent")
        assert json.loads(raw) == answer.json()["event"]
        await http.post("/v1/scores", json={"username": "alice", "score": 91})
        await tab.until("document.querySelector('#board [data-field=score]').textContent === '91'")
        assert await tab.evaluate(ROWS) == [["1", "alice", "91"], ["2", "Bob", "90"]]
        assert tab.faults == []


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
        assert await tab.text("#notice") == "Not every relay has told all it has, so scores may be missing."


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


async def test_names_change_nothing_else_on_the_page(chromium: str) -> None:
    names = ["<img src=x onerror=alert(1)>", "\u202egnp.exe", "\N{PILE OF POO}" * 32, "\u0301" * 400, "plain"]
    events = [signed(name, 100 - place) for place, name in enumerate(names)]
    async with holding(*events) as relay, page(chromium) as tab:
        await tab.look(PHONE)
        async with site(Source(), relays=[relay.url], clock=time.time) as url:
            rows = await board(tab, url)
            assert [name for _, name, _ in rows] == names
            measured = await tab.evaluate(
                "[document.images.length, document.documentElement.scrollWidth, innerWidth,"
                " [...document.querySelectorAll('#board tbody tr')].map((row) => [row.offsetHeight,"
                " row.querySelector('.score').getBoundingClientRect().left])]"
            )
            images, wide, window, places = measured
            assert images == 2  # the page's own
            assert wide == window
            assert (
                len({tuple(place) for place in places}) == 1
            )  # each row as high as any other, its cells in line
            for number in range(1, len(names) + 1):
                await tab.click(f"#board tbody tr:nth-child({number}) .check")
                assert await tab.evaluate("document.querySelector('#dialog').scrollWidth <= innerWidth")
                assert await tab.text("#dialog .points span") == str(101 - number)
                await tab.click("#dialog .close")
            assert tab.faults == []


async def test_without_scripts_the_server_vouches(chromium: str) -> None:
    source = Source()
    source.add("alice", 72, int(time.time()))
    async with site(source, clock=time.time) as url, page(chromium) as tab:
        await tab.without_scripts()
        await tab.go(url)
        assert await tab.text("#trust summary") == "Verified by this server 1 player"
        assert await tab.text("#board th.name bdi") == "alice"
        await tab.click("#board .check")
        await tab.until("location.pathname === '/protocol'")
        assert await tab.text("#result .sum") == "This is no score of this app."  # made up, so not signed


async def test_when_no_relay_answers_the_loaded_scores_are_verified(chromium: str) -> None:
    source = Source()
    alice = signed("alice", 72)
    source.board.add(
        SignedScore("alice", 72, alice["created_at"], alice["id"], json.dumps(alice)), time.time()
    )
    source.add("mallory", 120, int(time.time()))  # as if this server lied
    async with (
        FakeRelay() as relay,
        page(chromium) as tab,
        site(source, relays=[relay.url], clock=time.time) as url,
    ):
        await relay.stop()
        assert await board(tab, url) == [["1", "alice", "72"]]
        assert "No relay can be reached now." in await tab.text("#notice")
        assert await tab.text("#trust summary") == "Verified in your browser 1 player · 0 of 1 relay"


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


async def test_a_flood_is_cut_off(chromium: str) -> None:
    event = json.dumps(["EVENT", "scores", signed("mallory", 120, keys=OTHER)])
    async with (
        holding(signed("alice", 72)) as honest,
        FakeRelay(on_req=lambda peer, *_: peer.send_text(*[event] * 20_001)) as flood,
        page(chromium) as tab,
        site(Source(), relays=[flood.url, honest.url], clock=time.time) as url,
    ):
        assert await board(tab, url) == [["1", "alice", "72"]]
        await tab.until("document.querySelector('.relays li').dataset.state === 'dropped'")
        assert "sends too much" in await tab.evaluate("document.querySelector('.relays').textContent")
        assert await tab.evaluate(ROWS) == [["1", "alice", "72"]]


async def test_offline_it_says_so_and_online_it_goes_on(chromium: str) -> None:
    async with (
        holding(signed("alice", 72)) as relay,
        page(chromium) as tab,
        site(Source(), relays=[relay.url], clock=time.time) as url,
    ):
        await board(tab, url)
        await tab.offline(True)
        await tab.until("document.querySelector('#notice').innerText.startsWith('You are offline')")
        assert await tab.evaluate(ROWS) == [["1", "alice", "72"]]
        await tab.offline(False)
        await tab.until("document.querySelector('#notice').hidden")
        fresh = signed("bob", 90)
        relay.stored[fresh["id"]] = fresh
        for peer in list(relay.peers):
            peer.send("EVENT", "scores", fresh)
        await tab.until("document.querySelectorAll('#board tbody tr').length === 2")
        assert tab.faults == []


async def test_an_empty_board_and_a_search_that_finds_nobody(chromium: str) -> None:
    async with (
        holding() as relay,
        page(chromium) as tab,
        site(Source(), relays=[relay.url], clock=time.time) as url,
    ):
        assert await board(tab, url) == []
        assert await tab.text("#empty") == "No score yet. The first hand is still to be played."
        for event in (signed("alice", 72, 10), signed("Älva", 60, 3 * 86_400)):
            relay.stored[event["id"]] = event
        assert len(await board(tab, url)) == 2
        await tab.click("[data-period=day]")
        await tab.until("document.querySelectorAll('#board tbody tr').length === 1")
        assert await tab.evaluate("location.search") == "?period=day"
        await tab.click("[data-period=all]")
        await tab.click("input[name=q]")
        await tab.type("äLV")
        await tab.until("document.querySelectorAll('#board tbody tr').length === 1")
        assert await tab.evaluate(ROWS) == [["2", "Älva", "60"]]
        await tab.type("x")
        await tab.until("!document.querySelector('#empty').hidden")
        assert await tab.text("#empty") == 'Nobody here is called "äLVx".'
        assert tab.faults == []


async def test_the_keyboard_reaches_everything(chromium: str) -> None:
    async with holding(signed("alice", 72), signed("bob", 60)) as relay, page(chromium) as tab:
        await tab.look(still=True)
        async with site(Source(), relays=[relay.url], clock=time.time) as url:
            await board(tab, url)
            reached = []
            for _ in range(12):
                await tab.press("Tab")
                reached.append(
                    await tab.evaluate(
                        "(document.activeElement.getAttribute('aria-label') || document.activeElement.name"
                        " || document.activeElement.innerText).trim().replace(/\\s+/g, ' ')"
                    )
                )
                assert await tab.evaluate("getComputedStyle(document.activeElement).outlineStyle") == "solid"
                if reached[-1].startswith("Checks"):
                    break
            assert reached == [
                "Skip to the content", "Briscola scores", "Leaderboard", "Protocol",
                "Verified in your browser 2 players · 1 relay", "Day", "Week", "All time", "q",
                "Checks of alice’s score",
            ]  # fmt: skip
            for key in ("Enter", "Space"):
                await tab.press(key)
                assert await tab.evaluate("document.querySelector('#dialog').open")
                assert await tab.text("#dialog h2") == "alice"
                await tab.press("Escape")
                assert not await tab.evaluate("document.querySelector('#dialog').open")
                assert await tab.evaluate("document.activeElement.ariaLabel") == "Checks of alice’s score"
            # A score that comes meanwhile takes the focus from nobody, nor moves for who wants it still.
            await tab.evaluate("Element.prototype.animate = () => { throw new Error('moved'); }")
            late = signed("bob", 100, -1)
            for peer in list(relay.peers):
                peer.send("EVENT", "scores", late)
            await tab.until("document.querySelector('#board [data-field=score]').textContent === '100'")
            assert await tab.evaluate("document.activeElement.ariaLabel") == "Checks of alice’s score"
            assert tab.faults == []
