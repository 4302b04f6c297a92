"""Proved and claimed rows in a real Chromium, which replays every transcript itself."""

from __future__ import annotations

import asyncio
import json
import time
from pathlib import Path
from typing import TYPE_CHECKING, Any

import httpx
import pytest

from app.matches.match import Points
from app.scores.proofs import Proof, Proofs, Wanted
from app.scores.signed_score import SignedScore
from tests.browser import page
from tests.matches.made import APP, PLAYER, made
from tests.process import environment, serving
from tests.relays.fake import FakeRelay, query
from tests.service import PUBKEY, make_key
from tests.web.boards import Source, board_of
from tests.web.hands import Hand
from tests.web.pages.browsing import OTHER, board, holding, signed, telling
from tests.web.pages.site import site

if TYPE_CHECKING:
    from app.web.event_stream import Reader
    from tests.browser import Page
    from tests.relays.fake import Peer

pytestmark = pytest.mark.usefixtures("bundle")

VECTORS = json.loads((Path(__file__).parents[2] / "vectors" / "match.json").read_text("utf-8"))["matches"][:3]
GENTLE, NORMAL, SHARP = (match["event"] for match in VECTORS)
SEALS = """[...document.querySelectorAll("#board tbody tr")].map((row) =>
  ["username", "seal"].map((name) => row.querySelector(`[data-field=${name}]`).textContent))"""


def score_of(transcript: dict[str, Any]) -> dict[str, Any]:
    score: dict[str, Any] = json.loads(transcript["content"])["score_event"]
    return score


async def seals(tab: Page, *wanted: str) -> None:
    """Wait until the rows are these: name and seal of each."""
    rows = json.dumps([row.split(": ") for row in wanted])
    await tab.until(f"JSON.stringify({SEALS}) === JSON.stringify({rows})")


async def open_row(tab: Page, number: int) -> str:
    """The text about the proof in the dialog of a row."""
    await tab.click(f"#board tbody tr:nth-child({number}) .check")
    return await tab.text("#hand")


async def hand_of(http: httpx.AsyncClient, name: str, level: str) -> Hand:
    """A hand that is dealt and played up to the player's last card."""
    answer = await http.post("/v1/matches", json={"username": name, "level": level, "player": PLAYER.pubkey})
    assert answer.status_code == 201, answer.text
    hand = Hand(http, answer.json(), answer.json()["token"])
    await hand.deal()
    await hand.play_on(19)
    return hand


async def test_a_hand_is_proved_once_the_browser_has_replayed_it(
    chromium: str, rust_relay: str, tmp_path: Path
) -> None:
    _, token = make_key(tmp_path / "scores.db")
    mirror = environment(
        tmp_path, RELAYS=rust_relay, PUBLIC_KEYS=PUBKEY, SECRET_KEY="", DATABASE_URL="",
    )  # fmt: skip
    async with (
        serving(environment(tmp_path, RELAYS=rust_relay)) as serve,
        httpx.AsyncClient(base_url=serve.url, headers={"Authorization": f"Bearer {token}"}) as http,
        page(chromium) as tab,
    ):
        await http.post("/v1/scores", json={"username": "bob", "score": 120}, headers={"Prefer": "wait=10"})
        hand = await hand_of(http, "alice", "normal")
        await board(tab, serve.url)
        await seals(tab, "bob: Claimed")
        await hand.play()  # while the page looks on
        await seals(tab, "bob: Claimed", "alice: Proved · Normal")
        assert await tab.text("#board tr:nth-child(2) .seal") == "Proved · Normal\nreplayed in your browser."
        told = await open_row(tab, 2)
        assert told.startswith("Proved, replayed in your browser.")
        assert "exactly what Normal plays, 20 times" in told
        taken = await tab.evaluate(
            "[...document.querySelectorAll('.tricks tbody td:last-child')].map((cell) => cell.textContent)"
        )
        points = {"player": 0, "computer": 0}
        for trick in taken:
            side, worth = trick.split(", ")
            points[side] += int(worth)
        assert len(taken) == 20
        assert points == hand.match["result"]["points"]
        await tab.click("#dialog .close")
        assert (await open_row(tab, 1)).startswith("Claimed.")
        await tab.click("#dialog .close")
        # The server filters as the browser does, and its proof is not taken for the browser's own.
        await tab.go(f"{serve.url}/?proved=1&level=normal")
        await seals(tab, "alice: Proved · Normal")
        async with serving(mirror, "--read-only") as copy:
            await board(tab, copy.url)
            await seals(tab, "bob: Claimed", "alice: Proved · Normal")
            await tab.go("about:blank")  # before the mirror is killed, with all its streams
        assert tab.faults == []


async def test_what_no_relay_has_is_replayed_from_the_server_when_asked_for(
    chromium: str, rust_relay: str, tmp_path: Path
) -> None:
    _, token = make_key(tmp_path / "scores.db")
    env = environment(tmp_path, RELAYS=rust_relay, PUBLISH_TRANSCRIPTS="0")
    async with (
        serving(env) as serve,
        httpx.AsyncClient(base_url=serve.url, headers={"Authorization": f"Bearer {token}"}) as http,
        page(chromium) as tab,
    ):
        await (await hand_of(http, "alice", "sharp")).play()
        while not (await http.get("/v1/leaderboard?proved=1")).json()["entries"]:
            pass
        await board(tab, serve.url)
        await seals(tab, "alice: Not replayed")
        await tab.click("[name=proved]")
        await tab.until("!document.querySelector('#empty').hidden")
        await tab.click("[name=proved]")
        await seals(tab, "alice: Not replayed")
        assert (await open_row(tab, 1)).startswith("Not replayed in your browser.")
        await tab.evaluate(
            "(() => { const fetched = fetch; window.fetch = async (...call) => {"
            " const event = await (await fetched(...call)).json(); window.fetch = fetched;"
            " event.content = event.content.replace('\"computer\":' , '\"computer\":1');"
            " return new Response(JSON.stringify(event)); }; })()"
        )
        await tab.click("#hand button")
        await tab.until("document.querySelector('#hand li').textContent.startsWith('It does not hold: ')")
        assert await tab.evaluate(SEALS) == [["alice", "Not replayed"]]
        await tab.click("#hand button")
        await seals(tab, "alice: Proved · Sharp")
        assert (await tab.text("#hand")).startswith("Proved, replayed in your browser.")
        assert tab.faults == []


async def test_a_hand_that_ends_while_the_page_is_open_is_proved_without_any_relay(
    chromium: str, rust_relay: str, tmp_path: Path
) -> None:
    _, token = make_key(tmp_path / "scores.db")
    env = environment(tmp_path, RELAYS=rust_relay, PUBLISH_TRANSCRIPTS="0")
    async with (
        serving(env) as serve,
        httpx.AsyncClient(base_url=serve.url, headers={"Authorization": f"Bearer {token}"}) as http,
        page(chromium) as tab,
    ):
        hand = await hand_of(http, "alice", "sharp")
        await board(tab, serve.url)
        await hand.play()
        await seals(tab, "alice: Not replayed")  # as the server's stream tells
        await tab.evaluate("(() => { const now = Date.now; Date.now = () => now() + 10_000; })()")
        await seals(tab, "alice: Proved · Sharp")
        assert tab.faults == []


async def test_a_transcript_that_comes_to_a_relay_later_is_asked_for_once_the_server_tells(
    chromium: str,
) -> None:
    source = Source()
    told = board_of(source)
    score = score_of(SHARP)
    async with (
        holding(score) as relay,
        page(chromium) as tab,
        site(source, told, relays=[relay.url], keys=[APP.pubkey], clock=time.time) as url,
    ):
        await board(tab, url)
        await seals(tab, "Ωμέγα: Claimed")
        relay.stored[SHARP["id"]] = SHARP
        asked = len(relay.reqs)
        content = json.loads(score["content"])
        row = SignedScore(
            content["username"], content["score"], score["created_at"], score["id"], json.dumps(score)
        )
        source.board.add(row, time.time())
        told.proofs.add(row.d, Proof(row.event_id, "ab" * 16, "sharp", SHARP["id"]))
        told.channel(Wanted(proved=True)).tell([row.d])
        await seals(tab, "Ωμέγα: Proved · Sharp")
        assert len(relay.reqs) == asked + 1
        assert tab.faults == []


async def test_the_page_listens_for_what_it_shows_and_only_while_it_is_looked_at(
    chromium: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, seen = Source(), asyncio.Queue[str]()
    told = board_of(source)
    for name, wanted in (("any", Wanted(proved=True)), ("sharp", Wanted(proved=True, level="sharp"))):
        hub = told.channel(wanted).hub

        def join(last_id: str | None, name: str = name, join: Any = hub.join) -> Reader:
            seen.put_nowait(f"{name} comes")
            reader: Reader = join(last_id)
            return reader

        def leave(reader: Reader, name: str = name, leave: Any = hub.leave) -> None:
            seen.put_nowait(f"{name} goes")
            leave(reader)

        monkeypatch.setattr(hub, "join", join)
        monkeypatch.setattr(hub, "leave", leave)
    hidden = "Object.defineProperty(document, 'hidden', {value: true, configurable: true})"
    look = "(() => { %s; document.dispatchEvent(new Event('visibilitychange')); })()"
    async with (
        holding(score_of(SHARP)) as relay,
        page(chromium) as tab,
        site(source, told, relays=[relay.url], keys=[APP.pubkey], clock=time.time) as url,
    ):
        await board(tab, url)
        assert await seen.get() == "any comes"
        await tab.evaluate(look % hidden)
        assert await seen.get() == "any goes"
        await tab.evaluate(look % "delete document.hidden")
        assert await seen.get() == "any comes"
        await board(tab, url, "/?level=sharp")
        assert {await seen.get(), await seen.get()} == {"any goes", "sharp comes"}
        await tab.go("about:blank")
        assert await seen.get() == "sharp goes"
        assert tab.faults == []


async def test_a_transcript_that_fails_proves_nothing(chromium: str) -> None:
    alice, zoe = score_of(GENTLE), score_of(NORMAL)
    salt = json.loads(GENTLE["content"])["salt"]
    tampered = {**GENTLE, "content": GENTLE["content"].replace(salt, salt[::-1])}
    false = made("sharp", username="fabio")
    lie = false.changed(points=Points(120, 0)).to_dict()
    stranger = {**NORMAL, "pubkey": PLAYER.pubkey}
    score = false.transcript.score_event
    assert score is not None
    events = [alice, zoe, score.to_dict(), tampered, lie, stranger]
    async with (
        telling(*events) as relay,
        page(chromium) as tab,
        site(Source(), relays=[relay.url], keys=[APP.pubkey], clock=time.time) as url,
    ):
        await board(tab, url)
        await seals(tab, "Zoë: Claimed", "fabio: Claimed · proof fails", "alice: Claimed")
        assert "The app signed a transcript of this hand that is not true" in await open_row(tab, 2)
        await tab.click("#dialog .close")
        assert (await open_row(tab, 3)).startswith("Claimed.")
        assert await tab.until("document.querySelector('#hand li').textContent") == (
            "A forged transcript was refused: "
            "the transcript is not signed: the id is not the hash of the event."
        )
        await tab.click("#dialog .close")
        assert await open_row(tab, 1) == (
            "Claimed. No relay has a transcript of a hand behind this score: "
            "whoever posted it vouches for it."
        )
        await tab.click("#dialog .close")
        await tab.click("[name=proved]")
        await tab.until("document.querySelector('#empty').innerText.startsWith('No proved score here.')")
        assert tab.faults == []


async def test_rows_are_filtered_by_what_they_were_proved_against(chromium: str) -> None:
    master = made("master", username="maestro")
    transcripts = [GENTLE, NORMAL, SHARP, master.event.to_dict()]
    events = [*transcripts, *map(score_of, transcripts), signed("bob", 90, keys=OTHER)]
    async with (
        holding(*events) as relay,
        page(chromium) as tab,
        site(Source(), relays=[relay.url], keys=[APP.pubkey], clock=time.time) as url,
    ):
        await board(tab, url)
        proved = [
            "Ωμέγα: Proved · Sharp",
            "Zoë: Proved · Normal",
            "maestro: Proved · Master",
            "alice: Proved · Gentle",
        ]
        await seals(tab, "bob: Claimed", *proved)
        told = await open_row(tab, 4)
        assert told.startswith("Proved, replayed but for the computer’s choices.")
        assert "What is not checked here: the choices of Master" in told
        await tab.click("#dialog .close")
        await tab.click("[name=proved]")
        await seals(tab, *proved)
        assert await tab.texts("#board td.rank") == ["1", "2", "3", "4"]
        assert await tab.evaluate("location.search") == "?period=all&proved=1"
        choose = (
            "(() => { const level = document.querySelector('[name=level]'); level.value = '%s';"
            " level.dispatchEvent(new Event('change')); })()"
        )
        await tab.evaluate(choose % "sharp")
        await seals(tab, proved[0])
        assert await tab.evaluate("location.search") == "?period=all&proved=1&level=sharp"
        await tab.click("[name=proved]")
        await seals(tab, "bob: Claimed", *proved)
        assert await tab.evaluate("document.querySelector('[name=level]').value") == ""
        await tab.evaluate(choose % "master")  # which proved ones alone can be
        await seals(tab, proved[2])
        assert await tab.evaluate("document.querySelector('[name=proved]').checked")
        # Kept and sent, an address shows the same.
        await board(tab, url, "/?level=normal")
        await seals(tab, proved[1])
        assert tab.faults == []


async def test_a_relay_that_does_not_answer_keeps_no_proof_back(chromium: str) -> None:
    def mute(peer: Peer, subscription: str, filters: list[dict[str, Any]]) -> None:
        if filters[0]["kinds"] != [30078]:
            query(peer, subscription, filters)

    scores = [score_of(GENTLE), score_of(SHARP)]
    async with (
        FakeRelay(stored={score["id"]: score for score in scores}, on_req=mute) as silent,
        holding(*scores, GENTLE, SHARP) as honest,
        page(chromium) as tab,
        site(Source(), relays=[silent.url, honest.url], keys=[APP.pubkey], clock=time.time) as url,
    ):
        await board(tab, url)
        await seals(tab, "Ωμέγα: Proved · Sharp", "alice: Proved · Gentle")
        (asked,) = next(filters for filters in honest.reqs if filters[0]["kinds"] == [30078])
        assert asked == {
            "kinds": [30078],
            "authors": [APP.pubkey],
            "#e": [score_of(SHARP)["id"], score_of(GENTLE)["id"]],
            "limit": 8,
        }
        assert tab.faults == []


async def test_of_many_forged_transcripts_few_are_looked_at(chromium: str) -> None:
    forged = [{**GENTLE, "sig": f"{number:0128x}"} for number in range(40)]
    async with (
        telling(*forged, GENTLE, score_of(GENTLE)) as relay,
        page(chromium) as tab,
        site(Source(), relays=[relay.url], keys=[APP.pubkey], clock=time.time) as url,
    ):
        await board(tab, url)
        await open_row(tab, 1)
        assert "is not this public key's" in await tab.until("document.querySelector('#hand li').textContent")
        await tab.click("#dialog .close")
        await tab.click("[name=proved]")
        await tab.until("document.querySelector('#empty').innerText.startsWith('No proved score here.')")
        # Twenty would have it left out, and its scores are good.
        assert await tab.evaluate("document.querySelector('.relays li').dataset.state") == "live"
        assert tab.faults == []


async def test_without_scripts_the_server_filters(chromium: str) -> None:
    source, proofs = Source(), Proofs()
    for transcript, level in ((GENTLE, "gentle"), (SHARP, "sharp")):
        score = score_of(transcript)
        told = json.loads(score["content"])
        row = SignedScore(
            told["username"], told["score"], score["created_at"], score["id"], json.dumps(score)
        )
        source.board.add(row, time.time())
        proofs.add(row.d, Proof(row.event_id, "ab" * 16, level, transcript["id"]))
    source.add("bob", 61, int(time.time()))
    async with (
        site(source, keys=[APP.pubkey], clock=time.time, proofs=proofs) as url,
        page(chromium) as tab,
    ):
        await tab.without_scripts()
        await tab.go(url)
        assert await tab.evaluate(SEALS) == [
            ["bob", "Claimed"],
            ["Ωμέγα", "Proved · Sharp"],
            ["alice", "Proved · Gentle"],
        ]
        await tab.click("[name=proved]")
        await tab.follow(".tools button")
        assert await tab.evaluate(SEALS) == [["Ωμέγα", "Proved · Sharp"], ["alice", "Proved · Gentle"]]
        await tab.evaluate("document.querySelector('[name=level]').value = 'gentle'")
        await tab.follow(".tools button")
        assert await tab.evaluate(SEALS) == [["alice", "Proved · Gentle"]]
        assert "proved=1&level=gentle" in await tab.evaluate("location.search")


async def test_a_stream_that_is_refused_is_not_asked_for_with_every_drawing(
    chromium: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("app.web.leaderboard.MAX_STREAMS", 0)
    draw = (
        "new Promise((done) => { dispatchEvent(new Event('offline')); requestAnimationFrame(() =>"
        " setTimeout(done)); })"
    )
    later = "(() => { const now = Date.now; Date.now = () => now() + %d; })()"
    async with (
        holding(score_of(SHARP)) as relay,
        page(chromium) as tab,
        site(Source(), relays=[relay.url], keys=[APP.pubkey], clock=time.time) as url,
    ):
        await tab.beforehand(
            "{ const Real = EventSource; window.sources = [];"
            " window.EventSource = class extends Real {"
            " constructor(url) { super(url); sources.push(this); } }; }"
        )
        await board(tab, url)
        for tries in (1, 2):
            await tab.until(
                f"sources.length === {tries} && sources.every(({{readyState}}) => readyState === 2)"
            )
            for _ in range(10):
                await tab.evaluate(draw)
            assert await tab.evaluate("sources.length") == tries
            await tab.evaluate(later % 60_000)
            await tab.evaluate(draw)
