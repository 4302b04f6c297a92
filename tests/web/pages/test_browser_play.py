"""The table in a real Chromium: practice, which needs nothing but the page."""

from __future__ import annotations

import pytest

from app.briscola.action import PLAYS
from app.briscola.cards import parse_card
from app.briscola.computer import computer
from app.briscola.shuffle import shuffled_deck
from app.briscola.two_player import TwoPlayer
from tests.browser import DESK, PHONE, page
from tests.web.boards import Source
from tests.web.pages.playing import CARDS, OVER, YOURS, choose_level, play, points
from tests.web.pages.site import site

pytestmark = pytest.mark.usefixtures("bundle")

SEED = bytes(range(32))  # the computer takes the first trick, if the first card is led
DEAL = f"crypto.getRandomValues = (bytes) => (bytes.set({list(SEED)}), bytes);"
SAID = "document.querySelector('#said').textContent"


async def test_practice_needs_no_network_once_loaded(chromium: str) -> None:
    """A dealt hand, played to its end offline, as Python plays the same deck against the same level."""
    async with site(Source()) as url, page(chromium) as tab:
        await tab.look(PHONE, still=True)
        await tab.begin_with(DEAL)
        await tab.go(f"{url}/play")
        assert await tab.evaluate("document.querySelector('#level [value=master]').disabled")
        await tab.network(there=False)
        await choose_level(tab, "sharp")
        assert await tab.text("#stock-count") == "34"
        await play(tab, 20)
        assert await tab.evaluate(OVER)
        assert await points(tab) == python_hand()
        assert await tab.text("#best") == str(python_hand()[0])
        assert await tab.text("#stock-count") == "0"
        await tab.click("#new")
        assert await points(tab) == (0, 0)
        assert not await tab.evaluate(OVER)
        assert tab.faults == []


def python_hand(seed: bytes = SEED) -> tuple[int, int]:
    """The points when the player always plays the first card in hand against Sharp, by Python's rules."""
    state, sharp = TwoPlayer.start(shuffled_deck(seed), first=0), computer("sharp", seed)
    while state.to_move is not None:
        seen = state.observation(state.to_move)
        state = state.apply(PLAYS[seen.hand[0]] if state.to_move == 0 else sharp(seen))
    yours, theirs = state.table.points
    return yours, theirs


# Every timer of the table is held until the test lets it go.
HOLD = (
    "window.held = []; const timer = setTimeout; window.setTimeout = (run, ms, ...more) =>"
    " ms > 100 ? held.push([ms, run]) : timer(run, ms, ...more);"
    "window.release = () => { const [[ms, run]] = held.splice(0, 1); run(); return ms; };"
)


async def test_a_new_hand_is_not_touched_by_what_the_old_one_still_had_to_show(chromium: str) -> None:
    async with site(Source()) as url, page(chromium) as tab:
        await tab.look(DESK)
        await tab.begin_with(HOLD + DEAL)
        await tab.go(f"{url}/play")
        # While the computer thinks, while the pair lies there, before it leads, while the next pair does.
        for releases in range(4):
            await tab.until("document.getAnimations().length === 0")
            await tab.click("#hand .card")
            for _ in range(min(releases, 2)):
                await tab.until("held.length === 1")
                await tab.evaluate("release()")
            if releases == 3:
                await tab.until("held.length === 1 && document.getAnimations().length === 0")
                await tab.evaluate("release()")
                await tab.until(YOURS)
                await tab.click("#hand .card")
            await tab.click("#new")
            held = await tab.evaluate(CARDS)
            await tab.evaluate("while (held.length) release()")
            await tab.until("document.getAnimations().length === 0")
            assert await tab.evaluate(CARDS) == held
            assert await tab.evaluate("document.querySelectorAll('.slot span').length") == 0
            assert await tab.text("#stock-count") == "34"
        assert tab.faults == []


async def test_the_pace_is_the_seeds_and_clicks_meanwhile_are_ignored(chromium: str) -> None:
    async with site(Source()) as url, page(chromium) as tab:
        await tab.look(DESK)
        await tab.begin_with(HOLD + DEAL)
        await tab.go(f"{url}/play")
        waits: dict[str, set[int]] = {"reply": set(), "pair": set(), "lead": set()}
        for _ in range(6):
            await tab.until(f"{YOURS} && document.getAnimations().length === 0")
            leads = await tab.evaluate("document.querySelectorAll('.slot span').length === 0")
            await tab.click("#hand .card")
            left = await tab.evaluate(CARDS)
            if left:
                await tab.click("#hand .card")
                await tab.press("1")
                assert await tab.evaluate(CARDS) == left
            if leads:
                await tab.until("held.length === 1")
                waits["reply"].add(await tab.evaluate("release()"))
            await tab.until("held.length === 1")
            waits["pair"].add(await tab.evaluate("release()"))
            await tab.until(f"{YOURS} || held.length === 1")
            if not await tab.evaluate(YOURS):
                waits["lead"].add(await tab.evaluate("release()"))
        assert waits == {"reply": {470}, "pair": {620}, "lead": {520}}


async def test_a_card_is_dragged_onto_the_table(chromium: str) -> None:
    async with site(Source()) as url, page(chromium) as tab:
        await tab.look(PHONE, still=True)
        await tab.go(f"{url}/play")
        held = await tab.evaluate(CARDS)
        await tab.drag("#hand .card:nth-child(2)", 5, -30)  # not far enough
        assert await tab.evaluate(CARDS) == held
        await tab.drag("#hand .card:nth-child(2)", 10, -150)
        await tab.until(YOURS)
        assert held[1] not in await tab.evaluate(CARDS)
        assert len(await tab.evaluate(CARDS)) == 3
        assert await tab.text("#stock-count") == "32"


async def test_the_table_fits_narrow_and_low_windows(chromium: str) -> None:
    async with site(Source()) as url, page(chromium) as tab:
        for size in ((320, 568), (360, 640), (844, 390), PHONE, DESK):
            await tab.look(size, still=True)
            await tab.go(f"{url}/play")
            assert await tab.evaluate("document.documentElement.scrollWidth <= innerWidth")
            felt, hand = await tab.evaluate(
                "['#felt', '#hand .card:last-child'].map((one) =>"
                " document.querySelector(one).getBoundingClientRect().right)"
            )
            assert hand < felt
            height: int = await tab.evaluate("document.querySelector('#felt').offsetHeight")
            assert height <= size[1]


async def test_what_happens_is_said(chromium: str) -> None:
    async with site(Source()) as url, page(chromium) as tab:
        await tab.look(PHONE, still=True)
        await tab.go(f"{url}/play")
        card = (await tab.evaluate(CARDS))[0]
        name = parse_card(card).english
        label = await tab.evaluate("document.querySelector('#hand .card').ariaLabel")
        assert label.startswith(f"{name}, ")
        await play(tab, 1)
        said = await tab.evaluate(SAID)
        assert "is turned up, and drawn last. You lead. " in said
        assert f"You lead {name}. The computer plays " in said
        assert "the trick, " in said
