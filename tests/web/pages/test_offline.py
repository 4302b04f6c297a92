"""The service worker of /play as the server writes it."""

from __future__ import annotations

import json
import re

import pytest

from app.web.pages.assets import Assets
from tests.service import assert_problem
from tests.web.boards import Source
from tests.web.pages.site import client, pages


async def script(source: Source, public_url: str = "https://example.org/briscola", **more: object) -> str:
    async with client(pages(source, public_url, **more)) as http:  # type: ignore[arg-type] - passed on
        answer = await http.get("/service-worker.js")
    assert answer.headers["content-type"] == "text/javascript; charset=utf-8"
    assert answer.headers["cache-control"] == "no-cache"
    assert answer.headers["content-security-policy"] == "default-src 'none'; connect-src 'self'"
    return answer.text


def kept(text: str) -> dict[str, object]:
    told: dict[str, object] = json.loads(text.partition("self.kept = ")[2].partition(";\n")[0])
    return told


@pytest.mark.usefixtures("bundle")
async def test_it_names_what_the_page_loads_under_the_path_of_the_public_address() -> None:
    source, root = Source(), "https://example.org/briscola"
    async with client(pages(source, root)) as http:
        text = (await http.get("/play")).text
    told = kept(await script(source))
    assert told["page"] == "/briscola/play"
    loaded = set(re.findall(r'(?:href|src)="(/briscola/assets/[^"]+)"', text))
    assert set(told["files"]) == loaded  # type: ignore[call-overload] - a list
    assert len(loaded) == 4
    assert 'data-worker="/briscola/service-worker.js"' in text


@pytest.mark.usefixtures("bundle")
async def test_a_page_that_is_another_has_another_version() -> None:
    first = await script(Source())
    assert await script(Source()) == first
    changed = await script(Source(), relays=["wss://other.example"])
    assert kept(changed)["version"] != kept(first)["version"]


async def test_without_the_scripts_there_is_none(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Assets, "script", lambda *_: None)
    async with client(pages(Source())) as http:
        assert_problem(await http.get("/service-worker.js"), 404, "not-found")
        assert "service-worker" not in (await http.get("/play")).text
