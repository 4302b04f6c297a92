"""Scores and deletions for boards, and hypothesis strategies that make them collide."""

from __future__ import annotations

from hypothesis import strategies as st

from app.scores.signed_score import Deletion, SignedScore


def score(username: str, points: int, created_at: int = 0, event_id: str = "") -> SignedScore:
    return SignedScore(username, points, created_at, event_id or f"{username}-{points}-{created_at}", "{}")


def deletion(created_at: int, *names: str, ids: tuple[str, ...] = (), event_id: str = "") -> Deletion:
    made_of = f"{created_at}-{names}-{ids}"
    return Deletion(event_id or made_of, created_at, frozenset(names), frozenset(ids))


_IDS = st.integers(0, 15).map("{:064x}".format)
_TIMES = st.integers(0, 12).map(lambda step: step * 300)

scores = st.builds(
    SignedScore,
    username=st.sampled_from(["alice", "Alice", "bob", "carla", "dora"]),
    score=st.integers(60, 62),
    created_at=_TIMES,
    event_id=_IDS,
    event=st.just("{}"),
)
deletions = st.builds(
    Deletion,
    event_id=st.integers(16, 31).map("{:064x}".format),
    created_at=_TIMES,
    names=st.frozensets(st.sampled_from(["alice", "bob", "carla"]), max_size=2),
    event_ids=st.frozensets(_IDS, max_size=2),
)
events = st.lists(scores | deletions, max_size=30, unique_by=lambda event: event.event_id)
