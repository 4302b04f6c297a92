"""Which rows count as proved: exactly the scores whose own proof was found."""

from app.scores.proofs import Proof, Proofs, Wanted
from app.scores.signed_score import SignedScore

SHARP = SignedScore("Alice", 72, 1000, "a" * 64, "{}")
GENTLE = SignedScore("bob", 60, 1000, "b" * 64, "{}")
CLAIMED = SignedScore("carol", 120, 1000, "c" * 64, "{}")


def proofs() -> Proofs:
    known = Proofs()
    known.add("alice", Proof("a" * 64, "1" * 32, "sharp", "d" * 64))
    known.add("bob", Proof("b" * 64, "2" * 32, "gentle", "e" * 64))
    return known


def test_a_proof_is_of_one_score_and_not_of_the_name() -> None:
    known = proofs()
    found = known.of(SHARP)
    assert found is not None
    assert found.match == "1" * 32
    assert known.of(SHARP._replace(event_id="f" * 64)) is None
    assert known.of(CLAIMED) is None
    assert known.version == 2


def test_what_is_wanted_is_selected() -> None:
    def names(wanted: Wanted) -> list[str]:
        return [row.username for row in proofs().select([SHARP, GENTLE, CLAIMED], wanted)]

    assert names(Wanted()) == ["Alice", "bob", "carol"]
    assert names(Wanted(proved=True)) == ["Alice", "bob"]
    assert names(Wanted(level="gentle")) == ["bob"]
    assert names(Wanted(proved=True, level="sharp")) == ["Alice"]
    assert names(Wanted(level="master")) == []
