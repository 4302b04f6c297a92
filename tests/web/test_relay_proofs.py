"""Proofs from relays: a transcript counts for its own score if all of it is true, whoever sends it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from app.matches.match import Points
from app.scores.proofs import Proof
from app.scores.signed_score import SignedScore
from app.web.proving import ProofsUnavailable
from app.web.relay_proofs import RelayProofs
from tests.matches.made import APP, Made, made
from tests.relays.fake import FakeRelay
from tests.service import NOWHERE

KEYS = {APP.pubkey}


def row_of(hand: Made) -> SignedScore:
    score = hand.transcript.score_event
    assert score is not None
    return SignedScore("alice", hand.match.points.player, score.created_at, score.id, score.to_json())


@pytest.mark.parametrize("level", ["sharp", "master"])
async def test_a_true_transcript_proves_its_score(level: str) -> None:
    hand = made(level)
    row = row_of(hand)
    async with FakeRelay() as relay:
        relay.stored[hand.event.id] = hand.event.to_dict()
        found = await RelayProofs([NOWHERE, relay.url], KEYS).find([row])
    assert found == [Proof(row.event_id, hand.transcript.terms.match, level, hand.event.id)]


async def test_a_false_one_proves_nothing_and_hides_no_true_one_that_another_relay_has() -> None:
    hand = made("sharp")
    row = row_of(hand)
    points = Points(hand.match.points.player, hand.match.points.computer - 1)
    lying = hand.changed(points=points)
    forged = hand.event.to_dict() | {"sig": "00" * 64}
    tampered = hand.event.to_dict() | {"content": json.dumps({"v": 1})}
    other = made("gentle", username="bob")
    async with FakeRelay() as relay, FakeRelay() as honest:
        for number, event in enumerate((lying.to_dict(), forged, tampered, other.event.to_dict())):
            relay.stored[str(number)] = event
        assert await RelayProofs([relay.url], KEYS).find([row]) == []
        honest.stored["true"] = hand.event.to_dict()
        found = await RelayProofs([relay.url, honest.url], KEYS).find([row])
        assert [proof.transcript for proof in found] == [hand.event.id]
        assert await RelayProofs([honest.url], {"ab" * 32}).find([row]) == []


async def test_master_is_replayed_before_it_is_believed() -> None:
    hand = made("sharp")  # its plays are not master's
    terms = replace(hand.transcript.terms, level="master")
    async with FakeRelay() as relay:
        event = hand.changed(terms=terms)
        relay.stored[event.id] = event.to_dict()
        assert await RelayProofs([relay.url], KEYS).find([row_of(hand)]) == []


async def test_nobody_answers() -> None:
    with pytest.raises(ProofsUnavailable):
        await RelayProofs([NOWHERE], KEYS).find([row_of(made("sharp"))])
