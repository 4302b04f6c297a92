"""What changes on the board is told to whoever listens, in order and not too often."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from app.web import live_board
from app.web.board_query import BoardQuery
from app.web.live_board import MAX_TOLD, LiveBoard, open_board
from tests.clock import Clock
from tests.service import NOWHERE, PUBKEY
from tests.web.boards import NOW, RELAY, Relay, Source

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from app.web.event_stream import Reader


@pytest.fixture
def source() -> Source:
    return Source()


@pytest.fixture
async def board(source: Source, monkeypatch: pytest.MonkeyPatch) -> AsyncIterator[LiveBoard]:
    monkeypatch.setattr(live_board, "GATHER_SECONDS", 0)
    board = LiveBoard(source, Clock(NOW))  # type: ignore[arg-type]
    following = asyncio.create_task(board.follow())
    yield board
    following.cancel()
    await asyncio.wait([following])


async def event(board: LiveBoard, reader: Reader) -> tuple[str, Any]:
    text = await reader.next(lambda: board.beginning(BoardQuery()))
    assert text is not None
    fields = dict(line.split(": ", 1) for line in text.decode().splitlines() if line)
    assert fields["id"] == board.hub.last_id
    return fields["event"], json.loads(fields["data"])


async def test_a_reader_begins_with_the_board_and_hears_of_changes(source: Source, board: LiveBoard) -> None:
    source.add("Anna", 50)
    reader = board.hub.join(None)
    kind, document = await event(board, reader)
    assert kind == "board"
    assert [(e["rank"], e["username"]) for e in document["entries"]] == [(1, "Anna")]
    source.add("Bob", 60)
    source.tell("bob")
    kind, document = await event(board, reader)
    assert (kind, document["removed"]) == ("change", [])
    assert [(e["rank"], e["username"], e["score"]) for e in document["entries"]] == [(1, "Bob", 60)]
    source.delete("Anna")
    source.tell("anna")
    assert await event(board, reader) == ("change", {"entries": [], "removed": ["anna"]})


async def test_a_relay_that_fails_is_told(source: Source, board: LiveBoard) -> None:
    reader = board.hub.join(board.hub.last_id)
    source.relays, source.complete = (Relay(state="failed", reason="gone", complete=False),), False
    source.tell()
    source.tell()  # nothing new
    assert await event(board, reader) == (
        "relays",
        {
            "complete": False,
            "relays": [{"url": RELAY, "state": "failed", "reason": "gone", "complete": False}],
        },
    )
    source.add("Anna", 50)
    source.tell("anna")
    assert (await event(board, reader))[0] == "change"


async def test_all_begin_anew_when_many_rows_change(source: Source, board: LiveBoard) -> None:
    reader = board.hub.join(board.hub.last_id)
    names = [f"p{number}" for number in range(MAX_TOLD + 1)]
    for name in names:
        source.add(name, 50)
    source.tell(*names)
    kind, document = await event(board, reader)
    assert (kind, len(document["entries"])) == ("board", 50)
    source.tell(*names[:-1])
    kind, document = await event(board, reader)
    assert (kind, len(document["entries"])) == ("change", MAX_TOLD)


async def test_who_comes_early_waits_for_the_first_reading_only(source: Source, board: LiveBoard) -> None:
    reading = asyncio.create_task(board.read_once())
    early = [asyncio.create_task(board.ready()) for _ in range(3)]
    await asyncio.sleep(0)
    assert not any(task.done() for task in early)
    source.may_be_ready.set()
    await asyncio.gather(*early)
    source.may_be_ready.clear()
    await board.ready()
    await reading


async def test_closing_lets_everybody_go(source: Source, board: LiveBoard) -> None:
    waiting = asyncio.create_task(board.ready())
    reader = board.hub.join(None)
    board.close()
    await waiting
    assert await reader.next(lambda: b"") is None


async def test_an_open_board_leaves_nothing_behind() -> None:
    tasks = asyncio.all_tasks()
    async with open_board([NOWHERE], {PUBKEY}, Clock(NOW)) as board:
        await board.ready()
        assert [(relay.url, relay.state) for relay in board.relays] == [(NOWHERE, "failed")]
    assert asyncio.all_tasks() == tasks
