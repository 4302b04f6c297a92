from __future__ import annotations

from typing import Any

import pytest

from app.nostr.event import InvalidEvent, parse_event, verify_event
from tests.vectors import load, raw_of

CASES = load("nip01_events.json")["cases"]
# Where sound readers differ: only a number written in another way is the same event.
EITHER = {"number-spelling": True}


def is_valid(source: Any) -> bool:
    try:
        return verify_event(parse_event(source))
    except InvalidEvent:
        return False


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['name']} {case['note']}")
def test_vectors(case: dict[str, Any]) -> None:
    expected = {"valid": True, "invalid": False, "either": EITHER.get(case["group"], False)}[case["expected"]]
    assert is_valid(raw_of(case)) is expected
