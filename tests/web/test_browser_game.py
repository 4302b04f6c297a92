"""The README's browser game: a page of another origin signs in and posts, in a real Chromium."""

from __future__ import annotations

import asyncio
import json
import re
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from app.nostr.event import sign_event
from app.nostr.keys import SecretKey
from tests.browser import SECONDS, page
from tests.process import ROOT, environment, serving
from tests.relays.events import stored
from tests.relays.real import rust_relay
from tests.service import PUBKEY, rows

if TYPE_CHECKING:
    from collections.abc import AsyncIterator
    from pathlib import Path

PLAYER = SecretKey.parse(f"{3:064x}")
SNIPPET = re.findall(r"^```js\n(.*?)^```$", (ROOT / "README.md").read_text(), re.MULTILINE | re.DOTALL)
GAMES = [["alice", 72], ["José", 100], ["alice", 121]]

PAGE = """<!doctype html><meta charset="utf-8"><script>
window.nostr = {
  signEvent: async (event) => (await fetch("/sign", {method: "POST", body: JSON.stringify(event)})).json(),
};
%s
(async () => {
  const told = [];
  for (const [username, score] of %s) {
    try { told.push(await publish(username, score)); } catch (error) { told.push(String(error)); }
  }
  await fetch("/told", {method: "POST", body: JSON.stringify(told)});
})();
</script>"""


@dataclass
class Game:
    """A game's site: serves its page, signs as the extension would, hears what the page was told."""

    told: asyncio.Future[list[Any]]
    origin: str = ""
    page: str = ""

    async def answer(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        try:
            head = (await reader.readuntil(b"\r\n\r\n")).decode("latin-1")
        except asyncio.IncompleteReadError:  # a connection that the browser opened ahead and did not need
            writer.close()
            return
        length = re.search(r"^content-length: (\d+)", head, re.IGNORECASE | re.MULTILINE)
        body = await reader.readexactly(int(length[1]) if length else 0)
        path = head.split(" ")[1]
        media_type, answer = "text/html", b""
        if path == "/":
            answer = self.page.encode()
        elif path == "/sign":
            media_type, answer = "application/json", _signed(json.loads(body))
        elif path == "/told":
            self.told.set_result(json.loads(body))
        fields = f"Content-Type: {media_type}\r\nContent-Length: {len(answer)}\r\nConnection: close"
        writer.write(f"HTTP/1.1 200 OK\r\n{fields}\r\n\r\n".encode() + answer)
        await writer.drain()
        writer.close()


def _signed(template: dict[str, Any]) -> bytes:
    return sign_event(PLAYER, **template).to_json().encode()


@asynccontextmanager
async def game_site() -> AsyncIterator[Game]:
    """A game on an origin of its own."""
    game = Game(asyncio.get_running_loop().create_future())
    async with await asyncio.start_server(game.answer, "127.0.0.1", 0) as listening:
        game.origin = f"http://127.0.0.1:{listening.sockets[0].getsockname()[1]}"
        yield game


async def play(game: Game, service: str, chromium: str) -> list[Any]:
    """Open the game in a browser; gives what the page was told of each score."""
    (snippet,) = SNIPPET
    address = "https://scores.example"
    assert snippet.count(address) == 1
    game.page = PAGE % (snippet.replace(address, service), json.dumps(GAMES))
    async with page(chromium) as tab, asyncio.timeout(SECONDS):
        await tab.go(game.origin)
        return await game.told


async def test_a_game_on_another_origin_signs_in_and_posts(chromium: str, tmp_path: Path) -> None:
    async with rust_relay() as relay, game_site() as game:
        env = environment(tmp_path, RELAYS=relay, CORS_ORIGINS=game.origin)
        async with serving(env) as service:
            assert service.url != game.origin
            alice, jose, too_much = await play(game, service.url, chromium)
        assert [alice["state"], jose["state"]] == ["accepted", "accepted"]
        assert alice["event"]["content"] == '{"v":1,"username":"alice","score":72}'
        assert jose["event"]["content"] == '{"v":1,"username":"José","score":100}'
        assert too_much.startswith("Error: score: ")  # a problem's detail reached the page
        kept = await stored(relay, {"kinds": [31250], "authors": [PUBKEY]})
    assert sorted(kept, key=str) == sorted([alice["event"], jose["event"]], key=str)
    owners = rows(tmp_path / "scores.db", "SELECT d, owner FROM name ORDER BY d")
    assert owners == [("alice", f"nostr:{PLAYER.pubkey}"), ("josé", f"nostr:{PLAYER.pubkey}")]


async def test_a_game_on_an_origin_that_is_not_named_cannot_post(chromium: str, tmp_path: Path) -> None:
    async with game_site() as game:
        env = environment(tmp_path, CORS_ORIGINS="https://game.example")
        async with serving(env) as service:
            told = await play(game, service.url, chromium)
    assert told == ["TypeError: Failed to fetch"] * len(GAMES)
    assert rows(tmp_path / "scores.db", "SELECT count(*) FROM event") == [(0,)]
