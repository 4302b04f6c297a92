"""The five checks as a real Chromium makes them: the server's verdict on every vector."""

from __future__ import annotations

import json
from itertools import groupby
from typing import Any

import pytest

from app.verifier import Check, verify
from tests.browser import page
from tests.vectors import load, raw_of
from tests.web.boards import Source
from tests.web.pages.site import site

CASES = sorted(load("score_events.json")["cases"], key=lambda case: str(case["app_pubkey"]))

# Puts each text into the page's box, and reads what the page then shows.
PASTE = """(texts) => texts.map((text) => {
  const box = document.querySelector("#pasted");
  box.value = text;
  box.dispatchEvent(new Event("input"));
  const shown = document.querySelector("#result .verdict");
  return {
    state: shown.dataset.state,
    sum: shown.querySelector(".sum").textContent,
    checks: [...shown.querySelectorAll("[data-check]")].map(({dataset}) => [dataset.check, dataset.state]),
    reasons: [...shown.querySelectorAll(".reasons li")].map((item) => item.textContent),
  };
})"""


def failed(shown: dict[str, Any]) -> str | None:
    """Which check the page shows as the first that fails, after those that passed."""
    states = [state for _, state in shown["checks"]]
    if "fail" not in states:
        return None if set(states) == {"pass"} else "unparsable"
    place = states.index("fail")
    assert set(states[:place]) <= {"pass"}
    assert set(states[place + 1 :]) <= {"open"}
    return str(shown["checks"][place][0])


@pytest.mark.usefixtures("bundle")
async def test_every_vector_gets_the_servers_verdict(chromium: str) -> None:
    compared = 0
    async with page(chromium) as tab:
        for key, of_key in groupby(CASES, key=lambda case: case["app_pubkey"]):
            cases = [case for case in of_key if raw_of(case).strip()]  # a blank box has no verdict
            async with site(Source(), keys=[key]) as url:
                await tab.go(f"{url}/protocol")
                texts = [raw_of(case) for case in cases]
                shown = await tab.evaluate(f"({PASTE})({json.dumps(texts)})")
            for case, text, one in zip(cases, texts, shown, strict=True):
                verdict = verify(text, key)
                assert failed(one) == verdict.failed, case["note"]
                if verdict.failed is not Check.UNPARSABLE:  # why it is no JSON is each reader's own word
                    agrees = "disagrees with itself" not in one["sum"]
                    assert one["state"] == ("pass" if verdict.ok and verdict.consistent else "fail"), case[
                        "note"
                    ]
                    assert agrees or not verdict.consistent, case["note"]
                    assert len(one["reasons"]) == len(verdict.reasons), (case["note"], one, verdict)
                    compared += 1
        assert tab.faults == []
    assert compared > 200


@pytest.mark.usefixtures("bundle")
async def test_what_is_pasted_stays_in_the_browser(chromium: str) -> None:
    async with site(Source()) as url, page(chromium) as tab:
        await tab.go(f"{url}/protocol")
        assert "in your browser" in await tab.text("#check p")
        await tab.evaluate("document.querySelector('#pasted').focus()")
        await tab.type('{"kind": 1, "content": "<img src=x onerror=alert(1)>"}')
        await tab.click(".paste button")
        assert await tab.text("#result .sum") == "This is no score of this app."
        assert await tab.text("#result .reasons li") == "the kind is 1, not 31250"
        assert await tab.evaluate("document.querySelectorAll('[data-check][data-state=fail]').length") == 1
        await tab.evaluate("document.querySelector('#pasted').select()")
        await tab.type(" ")
        assert await tab.texts("#result [data-state=blank] b") == [
            "Kind",
            "Key",
            "App tag",
            "Signature",
            "Content",
        ]
        assert await tab.texts("#result .reasons li") == []
        assert await tab.evaluate("location.pathname + location.search") == "/protocol"
        assert tab.faults == []
