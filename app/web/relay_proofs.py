"""Proofs as relays have them: transcripts, each replayed here before it is believed."""

from __future__ import annotations

import asyncio
from typing import TYPE_CHECKING

from app.briscola.computer import MASTER
from app.delivery.connection import ConnectError
from app.delivery.fetch import fetch
from app.matches.replay import verify_transcript
from app.matches.transcript import KIND
from app.scores.proofs import Proof
from app.web.proving import ProofsUnavailable

if TYPE_CHECKING:
    from collections.abc import Collection, Iterable, Sequence

    from app.matches.replay import TranscriptVerdict
    from app.scores.signed_score import SignedScore

TIMEOUT = 10.0
"""Seconds for which a relay may take to send what it has."""

_PER_ROW = 4  # a relay may keep some of other people's making beside the app's own
_PAUSE = 0.2  # seconds of rest after a replay of master's choices, which takes as long


class RelayProofs:
    """The port `ProofFinder`, for whoever has no more than relays and the app's keys.

    Args:
        keys: the app's public keys, hex.
    """

    late = 600.0

    def __init__(self, relays: Collection[str], keys: Collection[str]) -> None:
        self._relays = tuple(relays)
        self._keys = frozenset(keys)

    async def find(self, rows: Sequence[SignedScore]) -> list[Proof]:
        """The proofs of those rows for which a relay has a transcript that is true."""
        wanted = {row.event_id for row in rows}
        query = {"kinds": [KIND], "authors": sorted(self._keys), "#e": sorted(wanted)}
        answers = await asyncio.gather(
            *(self._fetch(relay, query, _PER_ROW * len(wanted)) for relay in self._relays)
        )
        if not any(texts is not None for texts in answers):
            raise ProofsUnavailable("no relay answers")
        texts = {text for texts in answers for text in texts or ()}
        proofs: dict[str, Proof] = {}
        for text, proof in await asyncio.to_thread(self._judge, texts, wanted):
            # Master's choices take a while, so they come last, one transcript at a time.
            if proof.level == MASTER:
                proved = await asyncio.to_thread(verify_transcript, text, self._keys)
                await asyncio.sleep(_PAUSE)
                if not proved.ok:
                    continue
            proofs.setdefault(proof.event_id, proof)
        return [*proofs.values()]

    async def _fetch(self, relay: str, query: dict[str, object], limit: int) -> list[bytes] | None:
        try:
            fetched = await fetch(relay, [query], timeout=TIMEOUT, limit=limit)
        except ConnectError:
            return None
        return [received.text for received in fetched.events]

    def _judge(self, texts: Iterable[bytes], wanted: Collection[str]) -> list[tuple[bytes, Proof]]:
        """The transcripts in which all is true, master's choices apart, with what they prove."""
        judged = ((text, _proof(verify_transcript(text, self._keys, master=False))) for text in texts)
        found = [(text, proof) for text, proof in judged if proof and proof.event_id in wanted]
        return sorted(found, key=lambda each: each[1].level == MASTER)


def _proof(verdict: TranscriptVerdict) -> Proof | None:
    if not verdict.ok or verdict.terms is None or verdict.score_event is None or verdict.id is None:
        return None
    return Proof(verdict.score_event, verdict.terms.match, verdict.terms.level, verdict.id)
