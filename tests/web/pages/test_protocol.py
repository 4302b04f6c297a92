"""The page /protocol as the server renders it, and its form without scripts."""

from __future__ import annotations

import html
import re
from typing import TYPE_CHECKING

import pytest

from app.nostr.keys import SecretKey
from app.scores.score_event import sign_score
from tests.service import PUBKEY, SECRET, assert_problem
from tests.web.boards import Source
from tests.web.pages.site import client, pages

if TYPE_CHECKING:
    import httpx

# bech32 of PUBKEY, by another implementation: nostr-tools' nip19.npubEncode.
NPUB = "npub1ccz8l9zpa47k6vz9gphftsrumpw80rjt3nhnefat4symjhrsnmjs38mnyd"
EVENT = sign_score(SecretKey.parse(SECRET), username="alice", score=72, created_at=1_752_000_000).to_json()


def states(answer: httpx.Response) -> str:
    """The first letter of each check's state."""
    return "".join(state[0] for state in re.findall(r'<li data-check="\w+" data-state="(\w+)"', answer.text))


async def test_it_says_how_this_service_is_set_up() -> None:
    relays = ["wss://one.example", "ws://127.0.0.1:7777"]
    async with client(pages(Source(), relays=relays, keys=[PUBKEY, f"{3:064x}"])) as http:
        told = html.unescape((await http.get("/protocol")).text)
    for fact in ("31250", "briscola-score", PUBKEY, NPUB, f"{3:064x}", *relays, '["username","alice"]'):
        assert fact in told, fact
    assert '"#app": ["briscola-score"]' in told
    assert "Four suits" in told
    points = re.findall(r"<td>(\d+)</td>", told)
    assert 4 * sum(map(int, points)) == 120


async def test_the_key_that_everybody_knows_is_warned_of() -> None:
    known = "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"
    async with client(pages(Source(), keys=[known])) as http:
        for path in ("/", "/protocol"):
            assert "Everybody knows the secret" in (await http.get(path)).text


@pytest.mark.parametrize(
    ("event", "expected", "told"),
    [
        (EVENT, "ppppp", "All five checks pass."),
        (EVENT.replace('\\"score\\":72', '\\"score\\":73'), "pppfo", "something was changed after signing"),
        (EVENT.replace('"kind":31250', '"kind":1'), "foooo", "the kind is 1, not 31250"),
        (EVENT.replace('"id":', '"id":"x","id":'), "pppfo", "occurs twice"),
        ("</textarea><script>", "ooooo", "This is no event."),
    ],
)
async def test_the_form_works_without_scripts(event: str, expected: str, told: str) -> None:
    async with client(pages(Source())) as http:
        answer = await http.post("/protocol/check", data={"event": event})
    assert answer.status_code == 200
    assert states(answer) == expected
    text = html.unescape(answer.text)
    assert told in text
    assert event in text  # it stands in the box still
    assert "</textarea><script>" not in answer.text


async def test_a_players_score_can_be_checked_from_the_board() -> None:
    source = Source()
    source.add("Alice", 72)
    async with client(pages(source)) as http:
        found, nobody = await http.get("/protocol?player=ALICE"), await http.get("/protocol?player=bob")
    assert 'data-state="fail"' in found.text  # the made-up row is not signed
    assert '<div class="verdict" data-state="blank">' in nobody.text


async def test_what_is_no_form_is_refused() -> None:
    form = {"Content-Type": "application/x-www-form-urlencoded"}
    async with client(pages(Source())) as http:
        assert_problem(await http.post("/protocol/check", json={}), 415, "unsupported-media-type")
        for wrong in (b"", b"a=1", b"event=1&event=2", b"event=1&b=2"):
            answer = await http.post("/protocol/check", content=wrong, headers=form)
            assert_problem(answer, 400, "malformed-body")
        answer = await http.post("/protocol/check", content=b"event=" + b"x" * 800_000, headers=form)
        assert_problem(answer, 413, "body-too-large")
        assert (await http.post("/protocol/check", data={"event": " "})).status_code == 200
