"""A selection is at any time what a ranking made anew of the same rows would be."""

from __future__ import annotations

from hypothesis import given
from hypothesis import strategies as st

from app.scores.leaderboard import Leaderboard, Ranking
from app.scores.proofs import Proof, Proofs, Wanted
from app.scores.selection import Selection
from tests.web.boards import NOW, signed

STEPS = st.lists(
    st.tuples(
        st.sampled_from(["anna", "bob", "carl", "dora"]),
        st.integers(0, 4),
        st.sampled_from([None, "gentle", "sharp"]),
    ),
    max_size=20,
)


@given(STEPS, STEPS, st.sampled_from([Wanted(proved=True), Wanted(proved=True, level="sharp")]))
def test_it_follows_the_board(
    before: list[tuple[str, int, str | None]], after: list[tuple[str, int, str | None]], wanted: Wanted
) -> None:
    board, proofs = Leaderboard(), Proofs()

    def post(at: int, name: str, score: int, level: str | None) -> None:
        row = signed(name, score, NOW - 100 + at)
        board.add(row, NOW)
        if level is not None:
            proofs.add(name, Proof(row.event_id, "ab" * 16, level, "cd" * 32))

    for at, (name, score, level) in enumerate(before):
        post(at, name, score, level)
    selection = Selection(board, proofs, wanted)
    for at, (name, score, level) in enumerate(after, len(before)):
        version, shown = selection.version, selection.row(name)
        post(at, name, score, level)
        changed = selection.update([name, "nobody"])
        proved = level is not None and wanted.level in (None, level)
        assert changed == ({name} if proved or shown else set())
        assert selection.version == version + bool(changed)
        assert (selection.row(name) is not None) == proved
    anew = Ranking(proofs.select(board.rows(), wanted)).page(100)
    assert selection.ranking.page(100) == anew
    assert [selection.entry(entry.row.d) for entry in anew] == anew
    assert selection.entry("nobody") is None
