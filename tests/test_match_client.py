"""Matches from Python: against a real served service, left, gone on with, and played on from two places."""

from __future__ import annotations

from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from app.client import Client, UnexpectedAnswer
from app.match_client import RemoteMatch, WentOn
from app.matches.replay import verify_transcript
from app.nostr.keys import SecretKey
from tests.served import served
from tests.service import PUBKEY, running

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

PLAYER = SecretKey.parse(f"{5:064x}")


@asynccontextmanager
async def playing(tmp_path: Path) -> AsyncIterator[Client]:
    """A client of a service, who may call as often as the tests want to."""
    async with (
        running(tmp_path, RATE_LIMIT="off", RATE_LIMIT_PER_ADDRESS="off") as service,
        served(service.service) as url,
        Client(url, player_key=PLAYER) as client,
    ):
        yield client


async def begun(client: Client, name: str = "alice") -> RemoteMatch:
    match = await RemoteMatch.open(client, PLAYER, name, "sharp")
    assert (match.is_open, match.is_dealt, match.resumed) == (True, False, False)
    await match.deal()
    return match


async def first_card(match: RemoteMatch) -> None:
    await match.play(match.observation.hand[0])


async def test_a_hand_is_played_left_and_gone_on_with(tmp_path: Path) -> None:
    async with playing(tmp_path) as client:
        match = await begun(client)
        for _ in range(10):
            await first_card(match)
        again = await RemoteMatch.open(client, PLAYER, "alice", "sharp")  # without the token
        assert (again.resumed, again.is_dealt, again.id) == (True, True, match.id)
        assert again.observation == match.observation
        while again.is_open:
            await first_card(again)
        assert (again.forfeit, again.unpublished) == (None, None)
        assert sum(again.outcome.points) == 120
        verdict = verify_transcript(await again.transcript(), PUBKEY)
        assert (verdict.ok, verdict.score_event) == (True, again.score)


async def test_a_hand_that_is_played_on_elsewhere_is_shown_as_it_stands(tmp_path: Path) -> None:
    async with playing(tmp_path) as client:
        match = await begun(client)
        other = await RemoteMatch.open(client, PLAYER, "alice", "sharp")
        await other.play(other.observation.hand[1])
        with pytest.raises(WentOn, match="Ply 1 was"):
            await first_card(match)
        assert match.observation == other.observation
        for _ in range(3):
            await first_card(other)
        with pytest.raises(WentOn, match="played before"):
            await first_card(match)  # the same as there
        assert match.observation == other.observation
        await other.resign()
        with pytest.raises(WentOn, match=r"The match was given up\."):
            await first_card(match)
        assert (match.is_open, match.forfeit, match.score) == (False, "resigned", None)


async def test_an_answer_that_is_none() -> None:
    document = {"id": "0", "state": "forfeited", "observation": None, "result": {"forfeit": "eaten"}}
    async with Client("http://127.0.0.1:1", player_key=PLAYER) as client:
        match = RemoteMatch(client, PLAYER, document)
        with pytest.raises(UnexpectedAnswer, match="no hand"):
            _ = match.observation
        with pytest.raises(UnexpectedAnswer, match="how the hand ended"):
            _ = match.forfeit
