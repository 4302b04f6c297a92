"""The leaderboard in a real Chromium: what people see and do."""

from __future__ import annotations

import json
import time
from typing import TYPE_CHECKING

import httpx
import pytest

from app.scores.signed_score import SignedScore
from tests.browser import PHONE, page
from tests.process import environment, serving
from tests.relays.fake import FakeRelay
from tests.service import make_key
from tests.web.boards import Source
from tests.web.pages.browsing import AT, ROWS, board, holding, signed
from tests.web.pages.site import site

if TYPE_CHECKING:
    from pathlib import Path

pytestmark = pytest.mark.usefixtures("bundle")


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
        await tab.follow("#board .check")
        assert await tab.evaluate("location.pathname") == "/protocol"
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


async def test_when_no_relay_answers_and_nothing_was_loaded_no_board_is_claimed(chromium: str) -> None:
    async with (
        FakeRelay() as relay,
        page(chromium) as tab,
        site(Source(), relays=[relay.url], clock=time.time) as url,
    ):
        await relay.stop()
        assert await board(tab, url) == []
        assert await tab.text("#empty p") == "No score has come: no relay can be reached."
        assert await tab.text("#trust summary") == "Nothing verified yet 0 players · 0 of 1 relay"
        assert await tab.text("#notice") == (
            "No relay can be reached now. Scores show here as soon as one can be."
        )


async def test_a_narrow_phone_breaks_no_word(chromium: str) -> None:
    since = int(time.time()) - AT  # long ago, if other tests came first
    events = [signed("Annalisa", 90, 90_000), signed("marco_91", 80, -since)]  # the first is of yesterday
    async with (
        holding(*events) as relay,
        page(chromium) as tab,
        site(Source(), relays=[relay.url], clock=time.time) as url,
    ):
        for width in (320, 390):
            await tab.look((width, 700))
            await board(tab, url)
            assert await tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
            heights = "[...document.querySelectorAll('{}')].map((one) => one.offsetHeight)"
            links = await tab.evaluate(heights.format(".top nav a"))
            assert max(links) == min(links) < 50
            first, second = await tab.evaluate(heights.format("#board tbody tr"))
            assert first == second
            cut = "[...document.querySelectorAll('bdi')].map((one) => one.scrollWidth - one.clientWidth)"
            assert not any(await tab.evaluate(cut))
        assert (await tab.texts("#board time"))[0] == "1d ago"


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
        assert await tab.text("#empty p") == "No score yet. The first hand is still to be played."
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
        assert await tab.text("#empty p") == 'Nobody here is called "äLVx".'
        assert tab.faults == []


async def test_the_keyboard_reaches_everything(chromium: str) -> None:
    async with holding(signed("alice", 72), signed("bob", 60)) as relay, page(chromium) as tab:
        await tab.look(still=True)
        async with site(Source(), relays=[relay.url], clock=time.time) as url:
            await board(tab, url)
            reached = []
            for _ in range(14):
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
                "Skip to the content", "Briscola scores", "Leaderboard", "Play", "Protocol",
                "Verified in your browser 2 players · 1 relay", "Day", "Week", "All time", "q", "proved",
                "level", "Checks of alice’s score",
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
