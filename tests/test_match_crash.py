"""kill -9 around the last card of a match: the score is published, and once."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

import httpx
import pytest

from app.matches.replay import verify_transcript
from app.nostr.keys import SecretKey
from tests.process import environment, serving
from tests.relays.fake import FakeRelay
from tests.service import PUBKEY, make_key, rows
from tests.web.hands import Hand

if TYPE_CHECKING:
    from pathlib import Path

PLAYER = SecretKey.parse(f"{5:064x}").pubkey
SCORES = "SELECT id, score FROM event WHERE kind = 31250 AND level IS NOT NULL"


async def opened(http: httpx.AsyncClient, token: str) -> Hand:
    """A match that is dealt and played up to the player's last card."""
    body = {"username": "alice", "level": "sharp", "player": PLAYER}
    answer = await http.post("/v1/matches", json=body, headers={"Authorization": f"Bearer {token}"})
    assert answer.status_code == 201, answer.text
    hand = Hand(http, answer.json(), answer.json()["token"])
    await hand.deal()
    await hand.play_on(19)
    return hand


async def test_a_score_that_has_to_wait_is_published_by_the_next_process(tmp_path: Path) -> None:
    _, token = make_key(tmp_path / "scores.db")
    async with FakeRelay() as relay:
        env = environment(tmp_path, RELAYS=relay.url, RATE_LIMIT_PER_ADDRESS="off")
        async with serving(env) as first, httpx.AsyncClient(base_url=first.url) as http:
            hand = await opened(http, token)
            while True:  # until the name is as far ahead of the clock as it may be
                body, headers = {"username": "alice", "score": 1}, {"Authorization": f"Bearer {token}"}
                if (await http.post("/v1/scores", json=body, headers=headers)).status_code == 429:
                    break
            await hand.play()
            assert hand.match["result"]["unpublished"] == "waiting"
            first.process.kill()
        async with serving(env) as second, httpx.AsyncClient(base_url=second.url) as http:
            hand.http = http
            while hand.match["result"]["unpublished"] == "waiting":  # nobody asks it to
                await asyncio.sleep(0.05)
                await hand.call("GET")
            result = hand.match["result"]
            await relay.until(lambda: result["transcript"] in relay.stored)
            assert result["score"] in relay.stored
            transcript = await hand.call("GET", "/transcript")
    assert rows(tmp_path / "scores.db", SCORES) == [(result["score"], result["points"]["player"])]
    assert verify_transcript(transcript.content, {PUBKEY}).score_event == result["score"]


@pytest.mark.parametrize("moment", ["at once", "as the relay hears of the score"])
async def test_killed_as_the_last_card_is_played(tmp_path: Path, moment: str) -> None:
    _, token = make_key(tmp_path / "scores.db")
    async with FakeRelay() as relay:
        env = environment(tmp_path, RELAYS=relay.url, RATE_LIMIT_PER_ADDRESS="off")
        async with serving(env) as first, httpx.AsyncClient(base_url=first.url) as http:
            hand = await opened(http, token)
            card, ply = hand.match["observation"]["hand"][0], hand.match["next_ply"]
            playing = asyncio.create_task(hand.play(card, ply))
            if moment == "as the relay hears of the score":
                await relay.until(lambda: any(event["kind"] == 31250 for event in relay.events))
            else:
                await asyncio.sleep(0)  # the request is on its way, or not yet
            first.process.kill()
            await asyncio.wait([playing])
            playing.exception()  # whatever came of it, nobody has heard
        async with serving(env) as second, httpx.AsyncClient(base_url=second.url) as http:
            hand.http = http
            answer = await hand.play(card, ply)
            assert answer.status_code == 200, answer.text
            result = answer.json()["result"]
            await relay.until(lambda: result["score"] in relay.stored)
    assert rows(tmp_path / "scores.db", SCORES) == [(result["score"], result["points"]["player"])]
