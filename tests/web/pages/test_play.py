"""The page /play as the server renders it."""

from __future__ import annotations

import re

import pytest

from app.briscola.computer import LEVELS
from app.store.matches import Unpublished
from app.web.build import SOURCES
from app.web.pages.assets import Assets
from tests.service import PUBLIC_URL
from tests.web.boards import Source
from tests.web.pages.site import client, pages


async def shown(*, matches: bool) -> str:
    async with client(pages(Source(), matches=matches)) as http:
        answer = await http.get("/play")
        assert answer.status_code == 200
        assert 'href="/play"' in (await http.get("/")).text
    return answer.text


@pytest.mark.usefixtures("bundle")
async def test_where_matches_are_kept_a_player_can_sign_in() -> None:
    text = await shown(matches=True)
    assert f'data-service="{PUBLIC_URL}"' in text
    assert 'id="sign-in"' in text


@pytest.mark.usefixtures("bundle")
async def test_calls_go_to_the_path_of_the_public_address_and_sign_it_whole() -> None:
    async with client(pages(Source(), "https://example.org/briscola", matches=True)) as http:
        text = (await http.get("/play")).text
    assert 'data-service="https://example.org/briscola" data-root="/briscola"' in text


@pytest.mark.usefixtures("bundle")
@pytest.mark.parametrize("matches", [True, False])
async def test_every_level_is_explained(matches: bool) -> None:
    text = await shown(matches=matches)
    assert re.findall(r"<dt>(\w+)</dt><dd>[^<]{30,}</dd>", text) == [level.capitalize() for level in LEVELS]
    assert ("plays only for the leaderboard" in text) == matches


@pytest.mark.usefixtures("bundle")
async def test_elsewhere_there_is_practice_alone() -> None:
    text = await shown(matches=False)
    assert 'data-service=""' in text
    assert 'id="sign-in"' not in text
    assert 'id="rank" hidden' in text


async def test_without_the_scripts_the_page_says_so(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(Assets, "script", lambda *_: None)
    text = await shown(matches=True)
    assert "installed without the pages’ scripts" in text
    assert 'id="hand"' not in text


def test_every_reason_for_which_no_score_is_published_has_its_words() -> None:
    script = (SOURCES / "publication_view.js").read_text("utf-8")
    words = script.partition("const UNPUBLISHED = {")[2].partition("};")[0]
    assert set(re.findall(r'^ +"?([a-z-]+)"?: "', words, re.MULTILINE)) == {
        str(reason) for reason in Unpublished
    }
