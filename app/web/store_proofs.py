"""Proofs as the service's own store has them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.scores.proofs import Proof
from app.store.errors import StoreError
from app.store.matches import find_proofs
from app.web.proving import ProofsUnavailable

if TYPE_CHECKING:
    from collections.abc import Sequence

    from app.scores.signed_score import SignedScore
    from app.store.store import Store


class StoreProofs:
    """The port `ProofFinder`: a score and its transcript are one transaction, so no proof comes late."""

    late = 0.0

    def __init__(self, store: Store) -> None:
        self._store = store

    async def find(self, rows: Sequence[SignedScore]) -> list[Proof]:
        """The proofs of those rows that have one."""
        ids = [row.event_id for row in rows]
        try:
            return [
                Proof(*found)
                for found in await self._store.read(lambda connection: find_proofs(connection, ids))
            ]
        except StoreError as error:
            raise ProofsUnavailable(str(error)) from None
