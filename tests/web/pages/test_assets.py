"""Files under names that change with their content."""

from __future__ import annotations

import gzip
import hashlib
from typing import TYPE_CHECKING

import pytest

from app.web.pages.assets import HERE, Assets
from tests.service import assert_problem
from tests.web.boards import Source
from tests.web.pages.site import client, pages

if TYPE_CHECKING:
    from pathlib import Path


def test_a_name_follows_the_content_and_the_address_the_root(tmp_path: Path) -> None:
    (tmp_path / "x.css").write_text("a{}")
    digest = hashlib.sha256(b"a{}").hexdigest()
    assets = Assets("/briscola", [tmp_path, tmp_path / "missing"])
    assert assets.address("x.css") == f"/briscola/assets/x-{digest[:12]}.css"
    (tmp_path / "x.css").write_text("b{}")
    assert Assets("/briscola", [tmp_path]).address("x.css") != assets.address("x.css")


def test_what_is_missing_is_missing(tmp_path: Path) -> None:
    assets = Assets("", [tmp_path])
    assert assets.script("leaderboard.js") is None
    with pytest.raises(KeyError):
        assets.address("style.css")


async def test_files_are_kept_for_good_and_packed_for_who_can_read_it() -> None:
    style = (HERE / "assets" / "style.css").read_bytes()
    address = f"/assets/style-{hashlib.sha256(style).hexdigest()[:12]}.css"
    async with client(pages(Source())) as http:
        packed = await http.get(address, headers={"Accept-Encoding": "gzip, br"})
        plain = await http.get(address, headers={"Accept-Encoding": "identity"})
    assert packed.headers["content-encoding"] == "gzip"
    assert int(packed.headers["content-length"]) < len(style) / 2
    assert len(gzip.compress(style)) < len(style) / 2
    assert "content-encoding" not in plain.headers
    for answer in (packed, plain):
        assert answer.content == style
        assert answer.headers["content-type"] == "text/css; charset=utf-8"
        assert answer.headers["cache-control"] == "public, max-age=31536000, immutable"
        assert answer.headers["vary"] == "Accept-Encoding"


@pytest.mark.parametrize("name", ["style.css", "style-000000000000.css", "..%2Fhtml.py", "%00"])
async def test_any_other_name_is_not_found(name: str) -> None:
    async with client(pages(Source())) as http:
        assert_problem(await http.get(f"/assets/{name}"), 404, "not-found")
