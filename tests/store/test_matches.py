"""What is read back of matches: the due, the unfinished, the proved, and how many there were."""

from __future__ import annotations

from typing import TYPE_CHECKING, TypeVar

import pytest

from app.matches.transcript import Forfeit
from app.store.matches import (
    MatchState,
    Tally,
    due_matches,
    find_match,
    find_proof,
    find_proofs,
    find_transcript,
    find_unfinished,
)
from tests.clock import Clock
from tests.service import rows
from tests.store.match_table import EXPIRY, NOW, Table
from tests.store.players import opened, player, request

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator

T = TypeVar("T")

A, B, C, D = ("1" * 32, "2" * 32, "3" * 32, "4" * 32)


@pytest.fixture
def table(url: str) -> Iterator[Table]:
    with opened(url) as database:
        yield Table(database, Clock(NOW + 0.5))


def read(table: Table, find: Callable[..., T], *arguments: object) -> T:
    with table.database.reader.begin() as connection:
        return find(connection, *arguments)


def test_what_is_not_there(table: Table) -> None:
    assert read(table, find_match, A) is None
    assert read(table, find_transcript, A) is None
    assert read(table, find_unfinished, "alice", "sharp") is None
    assert read(table, due_matches, NOW + 10**9) == []
    assert read(table, find_proofs, []) == []
    assert read(table, find_proof, 1) is None


def test_what_is_due_comes_in_order_and_a_part_at_a_time(table: Table) -> None:
    for match_id, level in ((C, "gentle"), (A, "normal"), (B, "sharp")):
        table.open(match_id, level=level)
        table.clock.now += 1
    assert read(table, due_matches, NOW + EXPIRY) == []
    assert read(table, due_matches, NOW + EXPIRY + 0.5) == [C]
    assert read(table, due_matches, NOW + EXPIRY + 60) == [C, A, B]
    assert read(table, due_matches, NOW + EXPIRY + 60, 2) == [C, A]
    table.deal(C)  # which rests from now on
    assert read(table, due_matches, NOW + EXPIRY + 2.5) == [A, B]
    table.close(A, Forfeit.RESIGNED)
    assert read(table, due_matches, NOW + EXPIRY + 60) == [B, C]


def test_the_unfinished_match_is_found_by_name_and_level(table: Table) -> None:
    table.open(A)
    table.open(B, player(6), name="Bob")
    found = read(table, find_unfinished, "alice", "sharp")
    assert found is not None
    assert (found.terms.match, found.terms.username) == (A, "Alice")
    assert found == read(table, find_match, A)
    assert read(table, find_unfinished, "alice", "gentle") is None
    assert read(table, find_unfinished, "Alice", "sharp") is None  # a name is its `d`
    table.deal(A)
    found = read(table, find_unfinished, "alice", "sharp")
    assert found is not None
    assert found.state is MatchState.PLAYING
    table.play_to_end(A)
    assert read(table, find_unfinished, "alice", "sharp") is None


def test_every_dealt_hand_counts_and_no_other(table: Table) -> None:
    table.open(A)
    assert table.tally() == Tally(dealt=0, finished=0, forfeited=0)
    table.close(A, Forfeit.RESIGNED)  # before the deal: nobody has seen a card
    assert (table.find(A).state, table.tally()) == (MatchState.LAPSED, Tally(0, 0, 0))
    table.open(B)
    table.deal(B)
    assert table.tally() == Tally(dealt=1, finished=0, forfeited=0)
    table.close(B, Forfeit.RESIGNED)
    table.open(C)
    table.deal(C)
    table.play_to_end(C)
    table.open(D, player(6), name="bob")
    table.deal(D)
    assert table.tally() == Tally(dealt=2, finished=1, forfeited=1)


def test_the_proofs_of_those_scores_that_have_one(table: Table, url: str) -> None:
    table.open(A)
    table.deal(A)
    table.play_to_end(A)
    with table.database.writer.begin() as writer:
        (claimed,) = table.ledger.append(writer, [request(player(6), "bob")])
    score, transcript = table.find(A).score, table.find(A).transcript
    assert read(table, find_proofs, [score, claimed.event.id, "0" * 64]) == [(score, A, "sharp", transcript)]
    ((seq,),) = rows(url, "SELECT seq FROM event WHERE id = ?", score)
    proof = read(table, find_proof, seq)
    assert proof is not None
    assert (proof.match, proof.level, proof.transcript) == (A, "sharp", transcript)
    assert proof.matches == Tally(dealt=1, finished=1, forfeited=0)
