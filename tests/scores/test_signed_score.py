from __future__ import annotations

import pytest

from app.nostr.event import Event, sign_event
from app.nostr.keys import SecretKey
from app.scores.score_event import sign_deletion, sign_score
from app.scores.signed_score import SignedScore, read_deletion

NEW, OLD, OTHER = (SecretKey.parse(f"{n:064x}") for n in (2, 3, 4))
KEYS = frozenset({NEW.pubkey, OLD.pubkey})


def deletion(secret: SecretKey, *tags: list[str]) -> Event:
    return sign_event(secret, created_at=7, kind=5, tags=tags, content="")


def test_the_name_of_the_address_is_in_lower_case() -> None:
    assert SignedScore("ZoË", 1, 1, "", "").d == "zoë"


def test_a_published_deletion() -> None:
    event = sign_deletion(NEW, d="zoë", created_at=7)
    assert read_deletion(event, KEYS) == (event.id, 7, {"zoë"}, set())


def test_the_apps_keys_speak_for_each_other_and_for_nobody_else() -> None:
    event = deletion(
        NEW,
        ["a", f"31250:{OLD.pubkey}:alice"],
        ["a", f"31250:{OTHER.pubkey}:bob"],
        ["a", f"30078:{NEW.pubkey}:carla"],
        ["e", "ab" * 32],
    )
    assert read_deletion(event, KEYS) == (event.id, 7, {"alice"}, {"ab" * 32})


@pytest.mark.parametrize(
    "event",
    [
        deletion(OTHER, ["a", f"31250:{NEW.pubkey}:alice"]),
        sign_score(NEW, username="alice", score=1, created_at=1),
    ],
)
def test_what_is_no_deletion_by_the_app(event: Event) -> None:
    assert read_deletion(event, KEYS) is None
