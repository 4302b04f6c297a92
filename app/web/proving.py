"""Finding out which rows of a board are proved, beside everything else that a board does."""

from __future__ import annotations

import asyncio
import logging
from contextlib import suppress
from typing import TYPE_CHECKING, Protocol

if TYPE_CHECKING:
    from collections.abc import Callable, Collection, Iterable, Sequence

    from app.scores.leaderboard import Leaderboard
    from app.scores.proofs import Proof, Proofs
    from app.scores.signed_score import SignedScore

AT_ONCE = 200
"""Rows that a finder is asked of at once."""

AGAIN_SECONDS = 15.0
"""After that it is asked again: when it failed, or of scores whose proof may come late."""

log = logging.getLogger(__name__)


class ProofsUnavailable(Exception):
    """Whoever knows the proofs does not answer now; the message says why."""


class ProofFinder(Protocol):
    """Knows which scores are proved.

    Attributes:
        late: seconds by which a proof may come later than its score.
    """

    late: float

    async def find(self, rows: Sequence[SignedScore]) -> list[Proof]:
        """The proofs of those rows that have one.

        Raises:
            ProofsUnavailable: it cannot be known now.
        """


class Proving:
    """Asks a finder of every row once, and of young ones again.

    Args:
        finder: None proves nothing.
        tell: called with the lower-cased names whose proof was found.
        clock: unix seconds.
    """

    def __init__(
        self,
        board: Leaderboard,
        proofs: Proofs,
        finder: ProofFinder | None,
        tell: Callable[[Collection[str]], None],
        clock: Callable[[], float],
    ) -> None:
        self._board = board
        self._proofs = proofs
        self._finder = finder
        self._tell = tell
        self._clock = clock
        self._asked: set[str] = set()
        self._later: set[str] = set()
        self._wake = asyncio.Event()

    def ask(self, names: Iterable[str]) -> None:
        """Have the rows of these lower-cased names proved."""
        if self._finder is not None:
            self._asked.update(names)
            self._wake.set()

    async def run(self) -> None:
        """Prove what is asked for, until cancelled."""
        if self._finder is None:
            return
        while True:
            with suppress(TimeoutError):
                async with asyncio.timeout(AGAIN_SECONDS if self._later else None):
                    await self._wake.wait()
            self._wake.clear()
            if not self._asked:
                self._asked, self._later = self._later, set()
            while self._asked:
                names = [self._asked.pop() for _ in range(min(len(self._asked), AT_ONCE))]
                await self._prove(self._finder, names)

    async def _prove(self, finder: ProofFinder, names: Sequence[str]) -> None:
        rows = {
            row.event_id: row for d in names if (row := self._board.row(d)) and self._proofs.of(row) is None
        }
        if not rows:
            return
        try:
            found = {proof.event_id: proof for proof in await finder.find([*rows.values()])}
        except ProofsUnavailable as error:
            log.warning("proofs of scores are looked for later: %s", error)
            self._later.update(names)
            return
        for event_id, row in rows.items():
            if event_id in found:
                self._proofs.add(row.d, found[event_id])
            elif row.created_at > self._clock() - finder.late:
                self._later.add(row.d)
        if found:
            self._tell({rows[event_id].d for event_id in found})
