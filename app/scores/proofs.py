"""Which scores of a board are proved: those played in a match whose transcript was found."""

from __future__ import annotations

from typing import TYPE_CHECKING, NamedTuple

if TYPE_CHECKING:
    from collections.abc import Iterable

    from app.scores.signed_score import SignedScore


class Proof(NamedTuple):
    """The match that a score was played in.

    Attributes:
        event_id: of the score.
        level: the computer's.
        transcript: the id of the event that holds the transcript.
    """

    event_id: str
    match: str
    level: str
    transcript: str


class Wanted(NamedTuple):
    """Which rows count: all, the proved ones, or those proved at one level."""

    proved: bool = False
    level: str | None = None

    @property
    def all(self) -> bool:
        """Whether every row counts."""
        return not self.proved and self.level is None


class Proofs:
    """The proof of each name's newest score; an older one is forgotten when another comes.

    Attributes:
        version: grows with every proof.
    """

    def __init__(self) -> None:
        self.version = 0
        self._by_name: dict[str, Proof] = {}

    def add(self, d: str, proof: Proof) -> None:
        """Take the proof of a score of the lower-cased name `d`."""
        self._by_name[d] = proof
        self.version += 1

    def of(self, row: SignedScore) -> Proof | None:
        """The proof of exactly this score."""
        proof = self._by_name.get(row.d)
        return proof if proof is not None and proof.event_id == row.event_id else None

    def counts(self, row: SignedScore, wanted: Wanted) -> bool:
        """Whether a row counts."""
        return wanted.all or ((proof := self.of(row)) is not None and wanted.level in (None, proof.level))

    def select(self, rows: Iterable[SignedScore], wanted: Wanted) -> Iterable[SignedScore]:
        """The rows that count."""
        return rows if wanted.all else (row for row in rows if self.counts(row, wanted))
