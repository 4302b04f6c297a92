"""The page / as the server renders it: what people without scripts see."""

from __future__ import annotations

import re
from html.parser import HTMLParser
from typing import Any

import pytest

from app.scores.proofs import Proof, Proofs
from app.web.pages.html import Html
from tests.web.boards import NOW, Relay, Source
from tests.web.pages.site import client, pages

DAY = 86_400
NASTY = "<img src=x onerror=alert(1)>"


class Reader(HTMLParser):
    """The texts of the table's rows; and every tag there is."""

    def __init__(self) -> None:
        super().__init__()
        self.rows: list[dict[str, str]] = []
        self.tags: list[tuple[str, dict[str, str | None]]] = []
        self._field = ""

    def handle_starttag(self, tag: str, attributes: Any) -> None:
        self.tags.append((tag, dict(attributes)))
        if tag == "tr" and "data-event" in dict(attributes) and dict(attributes)["data-event"]:
            self.rows.append({})
        self._field = dict(attributes).get("data-field") or ("when" if tag == "time" else "")

    def handle_data(self, data: str) -> None:
        if self.rows and self._field in {"rank", "username", "seal", "score", "when"}:
            self.rows[-1].setdefault(self._field, data)
        self._field = ""


async def read(source: Source, query: str = "", proofs: Proofs | None = None) -> tuple[str, Reader]:
    async with client(pages(source, proofs=proofs)) as http:
        answer = await http.get(f"/{query}")
    assert answer.status_code == 200
    reader = Reader()
    reader.feed(answer.text.partition("<template")[0])
    return answer.text, reader


async def names(source: Source, query: str = "", proofs: Proofs | None = None) -> list[str]:
    return [row["username"] for row in (await read(source, query, proofs))[1].rows]


async def test_rows_are_ranked_and_say_who_verified() -> None:
    source = Source()
    for name, score, age in (("alice", 72, 60), ("bob", 100, 5), ("Ñandú", 72, 30), ("dan", 3, 0)):
        source.add(name, score, NOW - age)
    text, reader = await read(source)
    shown = [(row["rank"], row["username"], row["score"]) for row in reader.rows]
    assert shown == [("1", "bob", "100"), ("2", "alice", "72"), ("2", "Ñandú", "72"), ("4", "dan", "3")]
    assert reader.rows[3]["when"] == "2027-01-15 08:00"  # 1,800,000,000 seconds after 1970
    assert "Verified by this server" in text
    assert "4 players" in text
    assert "in your browser" not in text.partition("<table")[0].replace("<noscript>", "")


async def test_a_name_is_text() -> None:
    source = Source()
    source.add(NASTY, 50)
    _, reader = await read(source)
    assert [row["username"] for row in reader.rows] == [NASTY]
    assert not any("onerror" in attributes for _, attributes in reader.tags)


async def test_periods_and_names_are_found_without_scripts() -> None:
    source = Source()
    source.add("today", 1, NOW - DAY // 2)
    source.add("week", 2, NOW - 3 * DAY)
    source.add("ever", 3, NOW - 30 * DAY)
    assert await names(source) == ["ever", "week", "today"]
    assert await names(source, "?period=week") == ["week", "today"]
    assert await names(source, "?period=day") == ["today"]
    assert await names(source, "?period=century&cursor=nonsense") == ["ever", "week", "today"]
    assert await names(source, "?q=WEEK") == ["week"]
    text, reader = await read(source, "?q=ever&period=day")
    assert reader.rows == []
    assert "Nobody here is called &#34;ever&#34;." in text


async def test_proved_rows_are_told_from_claimed_ones_and_found_without_scripts() -> None:
    source, proofs = Source(), Proofs()
    levels = {"anna": "sharp", "bob": "gentle", "carla": "sharp"}
    for number, name in enumerate(("zoe", *levels, "dan")):
        row = source.add(name, 100 - number, NOW - number * DAY)
        if name in levels:
            proofs.add(name, Proof(row.event_id, "ab" * 16, levels[name], "cd" * 32))
    _, reader = await read(source, proofs=proofs)
    assert [(row["rank"], row["username"], row["seal"]) for row in reader.rows] == [
        ("1", "zoe", "Claimed"),
        ("2", "anna", "Proved · Sharp"),
        ("3", "bob", "Proved · Gentle"),
        ("4", "carla", "Proved · Sharp"),
        ("5", "dan", "Claimed"),
    ]
    text, reader = await read(source, "?proved=1", proofs)
    assert [(row["rank"], row["username"]) for row in reader.rows] == [
        ("1", "anna"),
        ("2", "bob"),
        ("3", "carla"),
    ]
    assert "3 players" in text
    assert 'name="proved" value="1" checked' in text
    assert await names(source, "?level=sharp", proofs) == ["anna", "carla"]
    assert await names(source, "?proved=1&level=sharp&period=day", proofs) == ["anna"]
    assert await names(source, "?proved=1&level=sharp&q=CARLA", proofs) == ["carla"]
    assert await names(source, "?proved=1&q=zoe", proofs) == []
    text, reader = await read(source, "?level=master", proofs)
    assert reader.rows == []
    assert "No proved score here" in text
    # What is chosen stays chosen in what the page links to.
    assert '<option value="master" selected>' in text
    assert "/?period=week&amp;proved=1&amp;level=master" in text


async def test_the_next_page_of_proved_rows_is_of_proved_rows() -> None:
    source, proofs = Source(), Proofs()
    for number in range(120):
        row = source.add(f"p{number:03}", 120 - number)
        if number % 2:
            proofs.add(row.d, Proof(row.event_id, "ab" * 16, "normal", "cd" * 32))
    text, first = await read(source, "?proved=1", proofs)
    further = re.search(r'<a class="button" href="(\?[^"]+cursor=[^"]+)"', text)
    assert further is not None
    rest = await names(source, further[1].replace("&amp;", "&"), proofs)
    shown = [row["username"] for row in first.rows] + rest
    assert shown == [f"p{number:03}" for number in range(1, 120, 2)]


async def test_a_page_ends_and_the_next_begins_behind_it() -> None:
    source = Source()
    for number in range(205):
        source.add(f"p{number:03}", 100 - number // 3, number=number + 1)
    first, _ = await read(source)
    seen = await names(source)
    while further := re.search(r'<a class="button" href="(\?[^"]+cursor=[^"]+)"', first):
        query = further[1].replace("&amp;", "&")
        seen += await names(source, query)
        first, _ = await read(source, query)
    assert seen == [f"p{number:03}" for number in range(205)]


@pytest.mark.parametrize(
    ("state", "told"),
    [
        ("live", "The first hand is still to be played"),
        ("reading", "still being read"),
        ("failed", "no relay can be reached"),
    ],
)
async def test_an_empty_board_says_why(state: str, told: str) -> None:
    complete = state == "live"
    relay = Relay(state=state, reason="" if complete else "no answer")
    text, reader = await read(Source(complete=complete, relays=(relay,)))
    assert reader.rows == []
    assert told in text
    assert ("scores may be missing" in text) is not complete
    assert ("no answer" in text) is not complete


async def test_a_page_is_made_again_only_when_what_it_shows_has_changed() -> None:
    source, proofs = Source(), Proofs()
    alice = source.add("alice", 72, NOW - 60)
    async with client(pages(source, proofs=proofs)) as http:
        first = await http.get("/")
        seen = [first.headers["etag"]]
        for change in ("row", "proof", "relay"):
            has = {"If-None-Match": seen[-1]}
            same = await http.get("/", headers=has)
            assert (same.status_code, same.content) == (304, b"")
            assert same.headers["etag"] == seen[-1]
            assert same.headers["vary"] == "Accept-Encoding"
            if change == "row":
                source.add("bob", 100)
            elif change == "proof":
                proofs.add("alice", Proof(alice.event_id, "ab" * 16, "normal", "cd" * 32))
            else:
                source.relays, source.complete = (Relay(state="failed", reason="gone"),), False
                source.turns += 1
            fresh = await http.get("/", headers=has)
            assert fresh.status_code == 200
            seen.append(fresh.headers["etag"])
        assert len(set(seen)) == 4
        assert "bob" in fresh.text
        assert "ab" * 16 in fresh.text
        assert "gone" in fresh.text
    async with client(pages(source, proofs=proofs)) as other:
        assert (await other.get("/", headers={"If-None-Match": seen[-1]})).status_code == 304


async def test_what_is_asked_for_differently_is_another_page() -> None:
    source = Source()
    for number in range(60):
        source.add(f"p{number:02}", 100 - number, NOW - 7200 * number, number)
    async with client(pages(source)) as http:
        further = re.search(r'href="(\?[^"]+cursor=[^"]+)"', (await http.get("/")).text)
        assert further is not None
        queries = ["", "?period=day", "?q=p07", "?q=p07&period=day", further[1].replace("&amp;", "&")]
        tags = [(await http.get(f"/{query}")).headers["etag"] for query in queries]
        plain = await http.get("/", headers={"Accept-Encoding": "identity"})
        junk = await http.get("/?cursor=nonsense")
        for query, tag in zip(queries, tags, strict=True):
            assert (await http.get(f"/{query}")).headers["etag"] == tag
    assert len({*tags, plain.headers["etag"]}) == 6
    assert junk.headers["etag"] == tags[0]


async def test_a_page_that_is_kept_is_not_rendered(monkeypatch: pytest.MonkeyPatch) -> None:
    source, rendered = Source(), 0
    render = Html.render

    def counted(self: Html, name: str, **values: Any) -> bytes:
        nonlocal rendered
        rendered += 1
        return render(self, name, **values)

    monkeypatch.setattr(Html, "render", counted)
    async with client(pages(source)) as http:
        for _ in range(3):
            await http.get("/")
        assert rendered == 1
        for number in range(40):
            await http.get(f"/?q=nobody{number}")
            await http.get("/")
        assert rendered == 41, "what is asked for all the time stays"
