from __future__ import annotations

import json
from typing import Any

import pytest

from app.delivery.judge import Candidate, Finding, Unproved, finding, looks_right
from app.nostr.event import sign_event
from app.nostr.keys import SecretKey
from app.nostr.signature import record_holds
from app.scores.score_event import sign_deletion, sign_score
from app.scores.signed_score import SignedScore
from tests.vectors import load, raw_of

SECRET, OTHER = SecretKey.parse(f"{2:064x}"), SecretKey.parse(f"{3:064x}")
KEYS = frozenset({SECRET.pubkey})
GOOD = sign_score(SECRET, username="Zoë", score=72, created_at=1_700_000_000)


def judge(candidate: Candidate) -> Finding:
    return finding(candidate, record_holds(candidate.record))


def compact(event: dict[str, Any]) -> bytes:
    return json.dumps(event, separators=(",", ":"), ensure_ascii=False).encode()


def test_a_published_score() -> None:
    text = GOOD.to_json().encode()
    candidate = looks_right(text, KEYS)
    assert candidate is not None
    assert candidate[:3] == (GOOD.id, 1_700_000_000, "zoë")
    assert judge(candidate) == ("Zoë", 72, 1_700_000_000, GOOD.id, text.decode())


USUAL = GOOD.to_json().encode()


@pytest.mark.parametrize(
    "text",
    [
        json.dumps(GOOD.to_dict(), indent=1).encode(),
        compact(dict(reversed(GOOD.to_dict().items()))),
        USUAL.replace(b',"sig"', b',\r\n\r\n"sig"'),
        USUAL.replace(b"]]", b"]\n]"),
        USUAL[:-1] + b" " * 200_000 + b"}",
        USUAL.replace(b"Zo", b"\\u005ao"),
    ],
)
def test_a_board_holds_a_score_as_this_app_writes_it_however_a_relay_does(text: bytes) -> None:
    """Rows go out as they are held: a line break would end an event of the stream, and blanks are many."""
    candidate = looks_right(text, KEYS)
    assert candidate is not None
    assert judge(candidate) == ("Zoë", 72, 1_700_000_000, GOOD.id, GOOD.to_json())


def test_what_the_signature_does_not_cover_is_dropped() -> None:
    candidate = looks_right(compact({**GOOD.to_dict(), "relay": "<script>"}), KEYS)
    assert candidate is not None
    assert json.loads(judge(candidate)[4]) == GOOD.to_dict()  # type: ignore[misc] - it is a score


def test_a_published_deletion() -> None:
    event = sign_deletion(SECRET, d="zoë", created_at=7)
    candidate = looks_right(event.to_json().encode(), KEYS)
    assert candidate is not None
    assert candidate[:3] == (event.id, 7, None)
    assert judge(candidate) == (event.id, 7, {"zoë"}, set())


def changed(**fields: Any) -> bytes:
    return compact({**GOOD.to_dict(), **fields})


NESTED: list[Any] = []
for _ in range(500):
    NESTED = [NESTED]


@pytest.mark.parametrize(
    "text",
    [
        sign_score(OTHER, username="alice", score=1, created_at=1).to_json().encode(),
        sign_deletion(OTHER, d="alice", created_at=1).to_json().encode(),
        changed(kind=1),
        changed(kind=[31250]),
        changed(kind=True),
        changed(tags=[["d", "zoë"]]),
        changed(tags=[["d", 1], ["app", "briscola-score"]]),
        changed(tags=[[["d"], "x"], [], "d", None, ["app", "briscola-score"]]),
        changed(tags=None),
        changed(id="00"),
        changed(id=None),
        changed(created_at="1"),
        changed(pubkey=["a"]),
        GOOD.to_json().encode().replace("zoë".encode(), b"zo\xff"),
        USUAL.replace(b',"sig"', b',"kind":31250,"sig"'),
        changed(relay="", tags=[*GOOD.to_dict()["tags"], NESTED]),
        changed(tags=[*GOOD.to_dict()["tags"], NESTED]),
        b"[]",
        b"",
    ],
)
def test_what_cannot_count_costs_no_signature(text: bytes) -> None:
    assert looks_right(text, KEYS) is None


@pytest.mark.parametrize(
    "text",
    [
        changed(content='{"v":1,"username":"Zoë","score":120}'),
        changed(created_at=1_700_000_001),
        changed(sig="0" * 128),
        changed(id="0" * 64),
        GOOD.to_json().encode().replace(b',"sig"', b',"kind":31250,"sig"'),
        GOOD.to_json().encode()[:-1],
        sign_deletion(SECRET, d="zoë", created_at=7).to_json().replace("zoë", "bob").encode(),
    ],
)
def test_forged(text: bytes) -> None:
    candidate = looks_right(text, KEYS)
    assert candidate is None or judge(candidate) == Unproved(forged=True)


def test_signed_by_the_app_and_still_no_score() -> None:
    tags = [["d", "zoë"], ["app", "briscola-score"], ["username", "Zoë"], ["score", "120"]]
    event = sign_event(SECRET, created_at=1, kind=31250, tags=tags, content=GOOD.content)
    candidate = looks_right(event.to_json().encode(), KEYS)
    assert candidate is not None
    assert judge(candidate) == Unproved(forged=False)


@pytest.mark.parametrize("case", load("score_events.json")["cases"], ids=lambda case: case["name"])
def test_every_handed_event(case: dict[str, Any]) -> None:
    """What is ok and consistent gets onto the board, and nothing else does."""
    raw, keys = raw_of(case), frozenset({case["app_pubkey"]})
    candidate = looks_right(raw.encode("utf-8", "surrogatepass") if isinstance(raw, str) else raw, keys)
    counts = candidate is not None and isinstance(judge(candidate), SignedScore)
    assert case["expected"] == "either" or counts == (case["expected"] == "ok" and case["consistent"])
