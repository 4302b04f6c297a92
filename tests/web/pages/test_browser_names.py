"""Names with a hyphen, in a narrow window: a real Chromium breaks none of them."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.web.pages.assets import Assets
from tests.browser import page
from tests.web.boards import Source
from tests.web.pages.site import site

if TYPE_CHECKING:
    import pytest

    from tests.browser import Page

WIDTHS = range(240, 480, 20)  # somewhere among them each name meets the end of its line

# On how many lines a text stands, first of all that are found under a selector.
LINES = """(selector, name) => {
  for (const part of document.querySelectorAll(selector)) {
    const text = part.firstChild, start = text.data.search(name);
    if (start < 0) continue;
    const range = document.createRange();
    range.setStart(text, start);
    range.setEnd(text, start + text.data.match(name)[0].length);
    return new Set([...range.getClientRects()].map(({top}) => top)).size;
  }
}"""


async def lines(tab: Page, selector: str, name: str) -> set[int]:
    found = set()
    for width in WIDTHS:
        await tab.look((width, 700))
        found.add(await tab.evaluate(f"({LINES})({selector!r}, {name})"))
    return found


async def test_the_name_of_the_specification(chromium: str) -> None:
    async with page(chromium) as tab, site(Source()) as url:
        await tab.go(f"{url}/protocol")
        assert await lines(tab, ".says", r"/NIP.01/") == {1}


async def test_the_name_of_the_program(chromium: str, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Assets, "script", lambda *_: None)
    async with page(chromium) as tab, site(Source()) as url:
        await tab.go(f"{url}/play")
        assert await lines(tab, ".notice code", r"/briscola-scores/") == {1}
