"""Every row is asked of once, young ones again, and what fails is asked later."""

from __future__ import annotations

import asyncio
from contextlib import asynccontextmanager
from typing import TYPE_CHECKING

import pytest

from app.scores.proofs import Proof, Proofs
from app.web import proving
from app.web.proving import ProofsUnavailable, Proving
from tests.web.boards import NOW, Source

if TYPE_CHECKING:
    from collections.abc import AsyncIterator, Collection, Sequence

    from app.scores.signed_score import SignedScore


class Finder:
    """Knows what it is told, and remembers what it was asked."""

    def __init__(self, late: float) -> None:
        self.late = late
        self.known: dict[str, Proof] = {}
        self.asked: list[list[str]] = []
        self.away = False
        self.was_asked = asyncio.Event()

    async def find(self, rows: Sequence[SignedScore]) -> list[Proof]:
        self.asked.append(sorted(row.username for row in rows))
        self.was_asked.set()
        if self.away:
            raise ProofsUnavailable("away")
        return [self.known[row.event_id] for row in rows if row.event_id in self.known]

    async def next(self) -> None:
        self.was_asked.clear()
        await self.was_asked.wait()


@asynccontextmanager
async def working(
    source: Source, finder: Finder
) -> AsyncIterator[tuple[Proving, Proofs, asyncio.Queue[set[str]]]]:
    told: asyncio.Queue[set[str]] = asyncio.Queue()

    def tell(names: Collection[str]) -> None:
        told.put_nowait({*names})

    proofs = Proofs()
    one = Proving(source.board, proofs, finder, tell, lambda: NOW)
    task = asyncio.create_task(one.run())
    try:
        yield one, proofs, told
    finally:
        task.cancel()
        await asyncio.wait([task])


async def test_what_is_proved_is_told() -> None:
    source, finder = Source(), Finder(late=0)
    row = source.add("Alice", 72, NOW)
    source.add("bob", 3, NOW)
    finder.known[row.event_id] = proof = Proof(row.event_id, "1" * 32, "sharp", "d" * 64)
    async with working(source, finder) as (one, proofs, told):
        one.ask(["alice", "bob", "nobody"])
        assert await told.get() == {"alice"}
        assert proofs.of(row) == proof
        one.ask(["alice"])
        one.ask(["bob"])
        await finder.next()
    assert finder.asked == [["Alice", "bob"], ["bob"]]


@pytest.mark.parametrize("away", [True, False])
async def test_it_asks_again_where_a_proof_may_come_late_or_nobody_answered(
    away: bool, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(proving, "AGAIN_SECONDS", 0.001)
    source, finder = Source(), Finder(late=0 if away else 60)
    row = source.add("alice", 72, NOW - 10)
    source.add("old", 71, NOW - 1000)
    finder.away = away
    async with working(source, finder) as (one, _, told):
        one.ask(["alice", "old"])
        await finder.next()
        await finder.next()
        finder.away = False
        finder.known[row.event_id] = Proof(row.event_id, "1" * 32, "sharp", "d" * 64)
        assert await told.get() == {"alice"}
    assert finder.asked[0] == ["alice", "old"]
    assert finder.asked[1] == (["alice", "old"] if away else ["alice"])
