from __future__ import annotations

from typing import Any

import pytest

from app.verifier import verify
from tests.vectors import load, raw_of

CASES = load("score_events.json")["cases"]
# Where sound readers differ: 31250.0 is the same number; capitals in sig and a negative time are refused.
EITHER = {"kind-spelling": "ok", "signature-spelling": "signature"}


@pytest.mark.parametrize("case", CASES, ids=lambda case: f"{case['name']} {case['note']}")
def test_vectors(case: dict[str, Any]) -> None:
    verdict = verify(raw_of(case), case["app_pubkey"])
    expected = EITHER[case["group"]] if case["expected"] == "either" else case["expected"]
    assert (verdict.failed or "ok") == expected
    assert verdict.consistent is bool(case["consistent"])
    assert bool(verdict.reasons) is not (verdict.ok and verdict.consistent)
