from __future__ import annotations

import pytest

from app.nostr.event import verify_event
from app.nostr.keys import SecretKey
from app.scores.score_event import address, score_template, sign_score


@pytest.mark.parametrize(
    ("username", "expected"),
    [
        ("alice", "d7dfa602d2a9267174a55bd21d7a316ddf9fd7f874b3a076d66f946b084194ee"),
        ("Zo\u00eb", "1cba789e54c6786f1e5672f95c7870916715de43082351ff633b22476b8e7f7c"),
        ("🃏ace", "5ea2ccd22dd5cc56ddccfdc8954c166e50b902f30fa566de1898f047f3d6df0b"),
    ],
)
def test_ids(username: str, expected: str) -> None:
    event = sign_score(SecretKey.parse("0" * 63 + "1"), username=username, score=72, created_at=1700000000)
    assert event.id == expected
    assert verify_event(event)


def test_template_is_the_seeds() -> None:
    tags, content = score_template("Alice", 72)
    assert tags == [["d", "alice"], ["app", "briscola-score"], ["username", "Alice"], ["score", "72"]]
    assert content == '{"v":1,"username":"Alice","score":72}'


def test_address() -> None:
    assert address("ab" * 32, "Alice") == f"31250:{'ab' * 32}:alice"
