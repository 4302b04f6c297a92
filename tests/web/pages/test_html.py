"""What goes with every page."""

from __future__ import annotations

import re
from typing import TYPE_CHECKING

from app.web.pages.assets import Assets
from app.web.pages.html import content_security_policy
from tests.web.boards import Source
from tests.web.pages.site import client, pages

if TYPE_CHECKING:
    import pytest


def test_connections_go_to_the_relays_alone() -> None:
    relays = ["wss://b.example/path?x=1", "wss://a.example:7777", "wss://b.example", "ws://127.0.0.1:1"]
    policy = dict(part.split(" ", 1) for part in content_security_policy(relays).split("; "))
    assert policy["default-src"] == "'none'"
    assert policy["connect-src"] == "'self' ws://127.0.0.1:1 wss://a.example:7777 wss://b.example"
    assert policy["script-src"] == policy["worker-src"] == policy["style-src"] == "'self'"
    assert "unsafe" not in str(policy)


async def test_pages_carry_their_policy_and_other_answers_the_strictest() -> None:
    async with client(pages(Source(), relays=["wss://relay.example"])) as http:
        for path in ("/", "/play", "/protocol"):
            answer = await http.get(path)
            plain = await http.get(path, headers={"Accept-Encoding": "identity"})
            assert answer.text == plain.text
            assert int(answer.headers["content-length"]) < int(plain.headers["content-length"]) / 2
            assert answer.headers["vary"] == "Accept-Encoding"
            assert answer.headers["content-type"] == "text/html; charset=utf-8"
            assert "connect-src 'self' wss://relay.example;" in answer.headers["content-security-policy"]
            assert answer.headers["cache-control"] == "no-cache"
            assert not re.search(r"<script(?! type=\"module\" src=)|\sstyle=|\son\w+=", answer.text)
        other = await http.get("/nowhere")
    assert other.headers["content-security-policy"] == "default-src 'none'; frame-ancestors 'none'"


async def test_without_the_bundle_the_server_vouches_and_nothing_asks_for_scripts(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(Assets, "script", lambda *_: None)
    source = Source()
    source.add("alice", 72)
    async with client(pages(source)) as http:
        board, protocol = (await http.get("/")).text, (await http.get("/protocol")).text
    for text in (board, protocol):
        assert "<script" not in text
        assert "<template" not in text
        assert "<noscript" not in text
    assert "Verified by this server" in board
    assert 'made\n<span data-field="where">by this server' in protocol


async def test_links_lead_to_the_path_of_the_public_address() -> None:
    async with client(pages(Source(), "https://example.org/briscola")) as http:
        for path in ("/", "/play", "/protocol"):
            links = re.findall(r'(?:href|src|action)="([^"#]+)', (await http.get(path)).text)
            assert links
            assert all(link.startswith("/briscola/") for link in links)
