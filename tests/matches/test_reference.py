"""The vectors are what the second reading writes, so that they can be made again."""

from tests.matches.reference import document
from tests.vectors import load


def test_the_vectors_can_be_made_again():
    assert document() == load("match.json")
