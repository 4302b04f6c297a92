"""Hands for the leaderboard in a real Chromium, dealt by a real service that publishes to a real relay."""

from __future__ import annotations

import json
import sqlite3
from contextlib import asynccontextmanager, closing
from typing import TYPE_CHECKING, Any

import httpx
import pytest
from nostr_sdk import EventBuilder, Keys, Kind, Tag, Timestamp

from app.matches.replay import verify_transcript
from tests.browser import DESK, PHONE, SECONDS, Page, page
from tests.process import environment, serving
from tests.relays.events import stored
from tests.service import PUBKEY, rows
from tests.web.boards import Source
from tests.web.pages.playing import CARDS, OVER, YOURS, choose_level, play, points
from tests.web.pages.site import site

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

    from tests.process import Serving

pytestmark = pytest.mark.usefixtures("bundle")

SEATED = "document.querySelector('#mode').innerText.startsWith('For the leaderboard')"
TICKET = "localStorage.getItem('briscola-match')"
PUBLISHED = "document.querySelector('[data-field=place]').textContent"


@asynccontextmanager
async def table(
    chromium: str, tmp_path: Path, relay: str, size: tuple[int, int] = PHONE
) -> AsyncIterator[tuple[Page, Serving]]:
    """The page of a real service with a relay, for a reader who wants no motion."""
    async with serving(environment(tmp_path, RELAYS=relay)) as serve, page(chromium) as tab:
        await tab.look(size, still=True)
        await tab.go(f"{serve.url}/play")
        yield tab, serve
        assert tab.faults == []


async def sign_in(tab: Page, name: str, level: str = "normal") -> None:
    """Sign in with a new key of this browser and have a hand dealt."""
    await tab.click("#rank")
    await tab.type(name)
    await tab.evaluate(f"document.querySelector('#sign-in [name=level]').value = '{level}'")
    await tab.click("#sign-in [name=deal]")
    await tab.until(SEATED)


async def test_a_hand_by_mouse_on_a_phone(chromium: str, rust_relay: str, tmp_path: Path) -> None:
    async with table(chromium, tmp_path, rust_relay) as (tab, serve):
        await sign_in(tab, "Alice", "sharp")
        await play(tab, 20)
        yours, theirs = await points(tab)
        assert yours + theirs == 120
        # The browser has read the event from the relay, and so does this test.
        await tab.until("document.querySelector('.arrivals [data-state=pass]')")
        assert rust_relay in await tab.text(".arrivals li")
        (event,) = await stored(rust_relay, {"kinds": [31250], "authors": [PUBKEY]})
        assert json.loads(event["content"]) == {"v": 1, "username": "Alice", "score": yours}
        assert await tab.until(PUBLISHED) == f"Place 1 on the leaderboard with {yours} points."
        (kept,) = await stored(rust_relay, {"kinds": [30078], "#e": [event["id"]]})
        assert verify_transcript(json.dumps(kept), PUBKEY).ok
        # Verified in the page, until somebody touches the transcript.
        await tab.click("#verify")
        await tab.until("document.querySelector('#replayed').dataset.state === 'pass'")
        assert "exactly what Sharp plays, 20 times" in await tab.text("#replayed")
        await tab.evaluate(
            "(() => { const fetched = fetch; window.fetch = async (...call) => {"
            " const event = await (await fetched(...call)).json();"
            " event.content = event.content.replace('\"computer\":' , '\"computer\":1');"
            " return new Response(JSON.stringify(event)); }; })()"
        )
        await tab.click("#verify")
        await tab.until("document.querySelector('#replayed').dataset.state === 'fail'")
        assert "the points are" in await tab.text("#replayed")
        await tab.go(f"{serve.url}/?q=alice")
        await tab.until("document.querySelector('#board [data-field=score]')")
        assert await tab.text("#board [data-field=username]") == "Alice"
        assert await tab.text("#board td.score") == str(yours)


async def test_a_hand_by_keyboard(chromium: str, rust_relay: str, tmp_path: Path) -> None:
    async with table(chromium, tmp_path, rust_relay, DESK) as (tab, serve):
        for _ in range(20):
            await tab.press("Tab")
            if await tab.evaluate("document.activeElement.id === 'rank'"):
                break
        await tab.press("Enter")
        await tab.type("bob")
        await tab.press("Enter")
        await tab.until(SEATED)
        await tab.evaluate("document.activeElement.blur()")
        for trick in range(20):
            await tab.until(YOURS)
            held = await tab.evaluate(CARDS)
            if trick % 2 == 0:
                await tab.press(str(len(held)))
                chosen = held[-1]
            else:  # from the first card round the left end to the last but one
                await tab.evaluate("document.activeElement.blur()")
                for key in ("ArrowRight", "ArrowLeft", "ArrowLeft", "ArrowRight")[: len(held) + 1]:
                    await tab.press(key)
                chosen = await tab.evaluate("document.activeElement.dataset.card")
                assert chosen in held
                await tab.press("Enter")
            await tab.until(f"!{CARDS}.includes('{chosen}')")
        yours, _ = await points(tab)
        assert await tab.until(PUBLISHED) == f"Place 1 on the leaderboard with {yours} points."
        await tab.go(serve.url)
        await tab.until("document.querySelector('#board [data-field=score]')")
        assert await tab.text("#board td.score") == str(yours)


async def test_a_hand_goes_on_after_a_reload_and_an_outage(
    chromium: str, rust_relay: str, tmp_path: Path
) -> None:
    async with table(chromium, tmp_path, rust_relay) as (tab, serve):
        # The page is left after the match is opened and before it is dealt.
        await tab.evaluate(
            "(() => { const fetched = fetch; window.fetch = (url, call) =>"
            " url.endsWith('/deal') ? Promise.reject(new TypeError()) : fetched(url, call); })()"
        )
        await tab.click("#rank")
        await tab.type("carla")
        await tab.press("Enter")
        await tab.until("document.querySelector('#sign-in .fault').textContent.includes('cannot be reached')")
        await tab.go(f"{serve.url}/play")
        await tab.until(SEATED)
        await play(tab, 3)
        before = await tab.evaluate(f"[{CARDS}, document.querySelector('#stock-count').textContent]")
        await tab.go(f"{serve.url}/play")
        await tab.until(SEATED)
        assert await tab.evaluate(f"[{CARDS}, document.querySelector('#stock-count').textContent]") == before
        # The network goes, a card is played, and the network comes back, of which the browser tells the page.
        await tab.network(there=False)
        await tab.click("#hand .card")
        await tab.until("!document.querySelector('#trouble').hidden")
        assert "The server cannot be reached" in await tab.text("#trouble")
        await tab.network(there=True)
        await tab.until(f"document.querySelector('#trouble').hidden && {YOURS}")
        assert await tab.text("#stock-count") == "26"
        # The server is away until the player has it tried again.
        await tab.evaluate(
            "(() => { const fetched = fetch; window.fetch = () => Promise.reject(new TypeError());"
            " const back = () => { window.fetch = fetched; };"
            " document.querySelector('#again').addEventListener('click', back, {capture: true}); })()"
        )
        await tab.click("#hand .card")
        await tab.until("!document.querySelector('#trouble').hidden")
        await tab.click("#again")
        await tab.until(f"document.querySelector('#trouble').hidden && {YOURS}")
        assert await tab.text("#stock-count") == "24"
        tab.faults[:] = [fault for fault in tab.faults if "ERR_INTERNET_DISCONNECTED" not in fault]
        # Another tab of the same browser plays on, and this one finds out with its next card.
        ticket = json.loads(await tab.evaluate(TICKET))
        bearer = {"Authorization": f"Bearer {ticket['token']}"}
        async with httpx.AsyncClient(headers=bearer, timeout=SECONDS) as other:
            address = f"{serve.url}/v1/matches/{ticket['match']}"
            for first, plays, stock in ((2, 1, "22"), (0, 5, "12")):  # another card than here, or the same
                for place in (first, 0, 0, 0, 0)[:plays]:
                    match = (await other.get(address)).json()
                    card, ply = match["observation"]["hand"][place], match["next_ply"]
                    await other.post(f"{address}/plays", json={"card": card, "ply": ply})
                await tab.evaluate("document.querySelector('#note').textContent = ''")  # of the time before
                await tab.click("#hand .card")
                await tab.until(
                    "document.querySelector('#note').textContent.endsWith('as the server has it.')"
                )
                assert (await tab.text("#note")).startswith("This hand was played on in another window.")
                match = (await other.get(address)).json()
                assert await tab.evaluate(CARDS) == match["observation"]["hand"]
                assert await tab.text("#stock-count") == stock
        tab.faults[:] = [fault for fault in tab.faults if "409" not in fault]  # Chromium tells of refusals
        await play(tab, 9)
        await tab.until(PUBLISHED)
        # The end is there after a reload, too.
        yours, _ = await points(tab)
        await tab.go(f"{serve.url}/play")
        assert await tab.until(PUBLISHED) == f"Place 1 on the leaderboard with {yours} points."
        assert await tab.evaluate("JSON.parse(localStorage.getItem('briscola-record')).hands") == 1


OUTAGE = (
    "(() => { const fetched = fetch; window.fetch = (url, call) =>"
    " url.includes('/v1/matches/') && !window.over"
    " ? Promise.reject(new TypeError()) : fetched(url, call); })()"
)
TABLE = f"[{CARDS}, document.querySelector('#stock-count').textContent]"


async def test_a_hand_that_comes_back_late_takes_nobody_from_practice(
    chromium: str, rust_relay: str, tmp_path: Path
) -> None:
    async with table(chromium, tmp_path, rust_relay) as (tab, serve):
        await sign_in(tab, "gina")
        await play(tab, 2)
        ranked = await tab.evaluate(TABLE)
        await tab.begin_with(OUTAGE)
        await tab.go(f"{serve.url}/play")
        await tab.until("!document.querySelector('#trouble').hidden")
        assert await tab.evaluate("document.querySelector('#rank').hidden")
        await tab.click("#new")
        await play(tab, 1)
        practice = await tab.evaluate(TABLE)
        await tab.evaluate("window.over = true")
        await tab.click("#again")
        await tab.until("!document.querySelector('#return').hidden")
        assert (await tab.text("#note")).startswith("Your hand for the leaderboard is here again")
        assert await tab.evaluate(TABLE) == practice
        assert await tab.text("#mode strong") == "Practice"
        await play(tab, 1)
        await tab.click("#return")
        await tab.until(SEATED)
        assert await tab.evaluate(TABLE) == ranked
        assert await tab.evaluate("document.querySelector('#return').hidden")
        # Where there is none to go back to, practice goes on too.
        await tab.evaluate("localStorage.setItem('briscola-match', JSON.stringify({match: '0', token: '0'}))")
        await tab.go(f"{serve.url}/play")
        await tab.until("!document.querySelector('#trouble').hidden")
        await tab.click("#new")
        await play(tab, 1)
        practice = await tab.evaluate(TABLE)
        await tab.evaluate("window.over = true")
        await tab.click("#again")
        await tab.until("!document.querySelector('#rank').hidden")
        assert (await tab.text("#note")).startswith("The hand you had begun cannot be gone on with.")
        assert await tab.evaluate(TABLE) == practice
        tab.faults.clear()  # Chromium tells of refusals


async def test_a_window_forgets_no_hand_of_another_one(
    chromium: str, rust_relay: str, tmp_path: Path
) -> None:
    async with table(chromium, tmp_path, rust_relay) as (tab, _):
        await sign_in(tab, "hugo")
        await tab.click("#resign")
        await tab.click("#give-up")
        await tab.until(OVER)
        # As another window leaves it that has begun the next hand.
        ticket = json.dumps({"match": "1" * 32, "token": "1" * 64})
        await tab.evaluate(f"localStorage.setItem('briscola-match', '{ticket}')")
        await tab.click("#practice")
        await tab.until(f"!({SEATED})")
        assert await tab.evaluate(TICKET) == ticket


async def test_a_hand_that_the_server_does_not_know_gives_way_to_practice(chromium: str) -> None:
    async with site(Source(), matches=True) as url, page(chromium) as tab:
        ticket = json.dumps({"match": "0" * 32, "token": "0" * 64})
        await tab.begin_with(f"localStorage.setItem('briscola-match', '{ticket}')")
        await tab.go(f"{url}/play")
        note = await tab.until(
            "document.querySelector('#hand .card') && document.querySelector('#note').textContent"
        )
        assert note.startswith("The hand you had begun cannot be gone on with.")
        assert await tab.text("#mode strong") == "Practice"
        assert await tab.evaluate(TICKET) is None


async def test_a_hand_that_is_given_up_stays_on_record(
    chromium: str, rust_relay: str, tmp_path: Path
) -> None:
    async with table(chromium, tmp_path, rust_relay) as (tab, serve):
        await sign_in(tab, "dora")
        await play(tab, 2)
        # Another level is another hand, and asks first.
        await choose_level(tab, "gentle")
        await tab.click("#stay")
        await tab.until("document.querySelector('#level').value === 'normal'")
        await choose_level(tab, "gentle")
        await tab.click("#give-up")
        await tab.until("document.querySelector('#stock-count').textContent === '34'")
        assert await tab.evaluate("document.querySelector('#level').value") == "gentle"
        await tab.click("#resign")
        await tab.click("#give-up")
        await tab.until(OVER)
        assert await tab.text("#outcome h2") == "You gave this hand up"
        await tab.click("#verify")
        await tab.until("document.querySelector('#replayed').dataset.state === 'pass'")
        assert "All 0 plays are legal" in await tab.text("#replayed")
        found = rows(tmp_path / "scores.db", "SELECT level, state FROM match ORDER BY level")
        assert found == [("gentle", "forfeited"), ("normal", "forfeited")]
        # The transcript of another hand is right in itself, and still not this one's.
        ((other,),) = rows(tmp_path / "scores.db", "SELECT id FROM match WHERE level = 'normal'")
        await tab.evaluate(
            "(() => { const fetched = fetch; window.fetch = (url, call) =>"
            f" fetched(url.endsWith('/transcript') ? '/v1/matches/{other}/transcript' : url, call); }})()"
        )
        await tab.click("#verify")
        await tab.until("document.querySelector('#replayed').dataset.state === 'fail'")
        assert (await tab.texts("#replayed li"))[:3] == [
            "it is the transcript of another match",
            "the seed is not the one that this browser chose",
            "the commitment is not the one made before the deal",
        ]
        # One that expires is found out with the next card.
        await tab.click("#new")
        await tab.until(f"!({OVER})")
        with closing(sqlite3.connect(tmp_path / "scores.db")) as database, database:
            database.execute("UPDATE match SET due = 1 WHERE state = 'playing'")
        ticket = json.loads(await tab.evaluate(TICKET))
        async with httpx.AsyncClient(headers={"Authorization": f"Bearer {ticket['token']}"}) as other:
            address = f"{serve.url}/v1/matches/{ticket['match']}"
            assert (await other.get(address)).json()["state"] == "forfeited"  # whoever looks closes it
        await tab.click("#hand .card")
        await tab.until(OVER)
        assert await tab.text("#outcome h2") == "This hand has expired"
        await tab.click("#practice")
        assert await tab.text("#mode strong") == "Practice"
        tab.faults[:] = [fault for fault in tab.faults if "409" not in fault]  # Chromium tells of refusals


async def test_the_key_in_the_browser_is_shown_and_replaced(
    chromium: str, rust_relay: str, tmp_path: Path
) -> None:
    async with table(chromium, tmp_path, rust_relay) as (tab, serve):
        await tab.click("#rank")
        await tab.click("#key-details summary")
        assert (await tab.until("document.querySelector('[data-field=npub]').textContent"))[:5] == "npub1"
        await tab.click("#show-key")
        own = Keys.parse(await tab.text("#nsec"))
        assert await tab.text("[data-field=npub]") == own.public_key().to_bech32()
        await tab.click("#import")
        await tab.type("nsec1qqqq")
        await tab.click("#import-key")
        assert await tab.text("#sign-in .fault") == (
            "That is no secret key: one begins with nsec1 and has 63 characters."
        )
        other = Keys.generate()
        await tab.evaluate(f"document.querySelector('#import').value = '{other.secret_key().to_bech32()}'")
        await tab.click("#import-key")
        await tab.until(
            f"document.querySelector('[data-field=npub]').textContent === '{other.public_key().to_bech32()}'"
        )
        assert await tab.evaluate("document.querySelector('#nsec').hidden")
        await tab.click("#name")
        await tab.type("a b")
        await tab.press("Enter")
        await tab.until("!document.querySelector('#sign-in .fault').hidden")
        assert "U+0020" in await tab.text("#sign-in .fault")
        await tab.evaluate("document.querySelector('#name').value = 'ada'")
        await tab.click("#sign-in [name=deal]")
        await tab.until(SEATED)
        owners = rows(tmp_path / "scores.db", "SELECT d, owner FROM name")
        assert owners == [("ada", f"nostr:{other.public_key().to_hex()}")]
        # Who has lost the match's token goes on with the key alone.
        await play(tab, 1)
        await tab.evaluate("localStorage.removeItem('briscola-match')")
        await tab.go(f"{serve.url}/play")
        await tab.click("#rank")
        await tab.press("Enter")  # the name is still known
        await tab.until("document.querySelector('#note').textContent.startsWith('You had not finished')")
        await play(tab, 1)
        assert await tab.text("#stock-count") == "30"
        # Chromium tells of refusals.
        tab.faults[:] = [fault for fault in tab.faults if "422" not in fault and "409" not in fault]


async def test_an_extension_signs(chromium: str, rust_relay: str, tmp_path: Path) -> None:
    keys = Keys.generate()
    extension = (
        f"window.nostr = {{ getPublicKey: async () => '{keys.public_key().to_hex()}',"
        " signEvent: (template) => new Promise((sign) => { window.asked = [template, sign]; }) };"
    )
    async with table(chromium, tmp_path, rust_relay) as (tab, serve):
        await tab.begin_with(extension)
        await tab.go(f"{serve.url}/play")
        await tab.click("#rank")
        await tab.type("eve")
        assert await tab.evaluate("document.querySelector('[name=signer]:checked').value") == "extension"
        await tab.click("#sign-in [name=deal]")

        async def answer(sign: bool = True) -> int:
            template: dict[str, Any] = await tab.until("window.asked?.[0]")
            event = signed(keys, template) if sign else "null"
            await tab.evaluate(f"(() => {{ const sign = asked[1]; asked = null; sign({event}); }})()")
            return int(template["kind"])

        # The call that opens the match, and the player's word for the seed, which is refused.
        assert [await answer(), await answer(sign=False)] == [27235, 78]
        await tab.until("document.querySelector('#sign-in .fault').textContent")
        # Whoever tries again has to sign a few calls more, and no card all the same.
        await tab.click("#sign-in [name=deal]")
        kinds = [await answer()]
        while kinds[-1] != 78:
            kinds.append(await answer())
        await tab.until(SEATED)
        assert len(kinds) == 5
        tab.faults[:] = [fault for fault in tab.faults if "409" not in fault]
        await play(tab, 1)
        assert await tab.evaluate("window.asked") is None
        assert await tab.evaluate("localStorage.getItem('briscola-key')") is None


def signed(keys: Keys, template: dict[str, Any]) -> str:
    """The event as the extension answers it, as JSON."""
    builder = EventBuilder(Kind(template["kind"]), template["content"])
    builder = builder.tags([Tag.parse(tag) for tag in template["tags"]])
    at = Timestamp.from_secs(template["created_at"])
    return str(builder.custom_created_at(at).finalize(keys).as_json())
