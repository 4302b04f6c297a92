"""The page /play in a real Chromium while its server is gone."""

from __future__ import annotations

import json
import shutil
from functools import partial
from typing import TYPE_CHECKING

import pytest

from app.web.pages import assets, html
from tests.browser import PHONE, page
from tests.web.boards import Source
from tests.web.pages.browsing import holding
from tests.web.pages.playing import OVER, YOURS, play, points
from tests.web.pages.site import site

if TYPE_CHECKING:
    from pathlib import Path

    from tests.browser import Page

pytestmark = pytest.mark.usefixtures("bundle")

KEPT = """(async () => { const found = [];
  for (const name of await caches.keys())
    for (const { url } of await (await caches.open(name)).keys()) found.push(new URL(url).pathname);
  return found.sort(); })()"""
LOADED = """[location.pathname, ...[...document.querySelectorAll("link[href], script[src], img")]
  .map((one) => new URL(one.href || one.src).pathname)]"""
ACTIVE = (
    "navigator.serviceWorker.ready.then(({ active }) => active.state === 'activated' || new Promise("
    "(done) => active.addEventListener('statechange', () => active.state === 'activated' && done(true))))"
)
RENEWED = (
    f"(async () => {{ while ((await caches.keys()).length !== 1 || JSON.stringify(await {KEPT}) === %s)"
    " await new Promise((resume) => setTimeout(resume, 20)); })()"
)
EDGE = "getComputedStyle(document.querySelector('#felt')).borderTopWidth"


async def kept(tab: Page) -> list[str]:
    """What the browser keeps, once the worker of the page is at work."""
    assert await tab.evaluate(ACTIVE)
    found: list[str] = await tab.evaluate(KEPT)
    return found


async def test_practice_needs_no_network_after_one_visit_and_an_update_comes_by_itself(
    chromium: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    async with page(chromium) as tab, holding() as relay:
        await tab.look(PHONE, still=True)
        async with site(Source(), relays=[relay.url]) as url:
            await tab.go(f"{url}/")
            assert await tab.evaluate("navigator.serviceWorker.getRegistrations()") == []
            await tab.go(f"{url}/play")
            first = await kept(tab)
            # All that the page loads, and nothing else; and the page itself.
            assert first == sorted(set(await tab.evaluate(LOADED)))
            # It does not stand between other pages and the server.
            await tab.go(f"{url}/")
            assert await tab.evaluate("navigator.serviceWorker.controller") is None
            await tab.go("about:blank")  # for the board would complain of a server that goes
        port = int(url.rpartition(":")[2])

        for _ in range(2):  # a reload too
            await tab.go(f"{url}/play?from=home")
            await tab.until(YOURS)
        await play(tab, 20)
        assert await tab.evaluate(OVER)
        assert sum(await points(tab)) == 120

        changed = tmp_path / "assets"
        shutil.copytree(assets.HERE / "assets", changed)
        with (changed / "play.css").open("a") as style:
            style.write(".felt { border: 7px solid; }")
        monkeypatch.setattr(html, "Assets", partial(assets.Assets, folders=[changed, assets.HERE / "bundle"]))
        async with site(Source(), relays=[relay.url], port=port):
            await tab.go(f"{url}/play")
            assert await tab.evaluate(EDGE) == "7px"
            await tab.evaluate(RENEWED % json.dumps(json.dumps(first, separators=(",", ":"))))
            second = await kept(tab)
            assert second == sorted(set(await tab.evaluate(LOADED)))
            assert len(set(first) - set(second)) == 1  # the old style is gone
        await tab.go(f"{url}/play")
        await tab.until(YOURS)
        assert await tab.evaluate(EDGE) == "7px"
        assert tab.faults == []
