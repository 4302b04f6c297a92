"""Proofs from the service's own store."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from app.scores.proofs import Proof
from app.store.errors import StoreUnavailable
from app.verifier import verify
from app.web.proving import ProofsUnavailable
from app.web.store_proofs import StoreProofs
from tests.service import PUBKEY, running
from tests.web.boards import Source
from tests.web.hands import Hand

if TYPE_CHECKING:
    from pathlib import Path


async def test_a_score_of_a_match_is_proved_and_a_posted_one_is_not(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        hand = await Hand.open(service.http, level="gentle")
        await hand.deal()
        await hand.play_on()
        result = hand.match["result"]
        played = (await service.http.get(f"/v1/scores/{result['score']}")).json()["event"]
        posted = (await service.post("bob", 72)).json()["event"]
        source = Source()
        rows = [
            source.add(verdict.username, verdict.score, event["created_at"])._replace(event_id=event["id"])
            for event in (played, posted)
            if (verdict := verify(event, PUBKEY)).ok
        ]
        proofs = StoreProofs(service.service.store)
        expected = Proof(result["score"], hand.match["id"], "gentle", result["transcript"])
        assert await proofs.find(rows) == [expected]
        assert await proofs.find([]) == []


async def test_a_store_that_is_away_says_so(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def away(_: object) -> None:
        raise StoreUnavailable("the database is gone")

    async with running(tmp_path) as service:
        monkeypatch.setattr(service.service.store, "read", away)
        with pytest.raises(ProofsUnavailable, match="the database is gone"):
            await StoreProofs(service.service.store).find([])
