"""What changes on the board is told to whoever listens, in order and not too often."""

from __future__ import annotations

import asyncio
import json
from typing import TYPE_CHECKING, Any

import pytest

from app.scores.proofs import Proof, Wanted
from app.web import live_board
from app.web.board_windows import EVERY_ROW
from app.web.live_board import LiveBoard, open_board
from tests.clock import Clock
from tests.service import NOWHERE, PUBKEY
from tests.web.boards import NOW, RELAY, Relay, Source

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

    from app.scores.signed_score import SignedScore
    from app.web.channel import Channel
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


@pytest.fixture
def channel(board: LiveBoard) -> Channel:
    return board.channel(EVERY_ROW)


async def event(channel: Channel, reader: Reader) -> tuple[str, Any]:
    text = await reader.next(lambda: channel.beginning(50))
    assert text is not None
    fields = dict(line.split(": ", 1) for line in text.decode().splitlines() if line)
    assert fields["id"] == channel.hub.last_id
    return fields["event"], json.loads(fields["data"])


async def test_a_reader_begins_with_the_board_and_hears_of_changes(source: Source, channel: Channel) -> None:
    source.add("Anna", 50)
    reader = channel.hub.join(None)
    kind, document = await event(channel, reader)
    assert kind == "board"
    assert [(e["rank"], e["username"]) for e in document["entries"]] == [(1, "Anna")]
    source.add("Bob", 60)
    source.tell("bob")
    kind, document = await event(channel, reader)
    assert (kind, document["removed"]) == ("change", [])
    assert [(e["rank"], e["username"], e["score"]) for e in document["entries"]] == [(1, "Bob", 60)]
    source.delete("Anna")
    source.tell("anna")
    assert await event(channel, reader) == ("change", {"entries": [], "removed": ["anna"]})


async def test_a_relay_that_fails_is_told(source: Source, channel: Channel) -> None:
    reader = channel.hub.join(channel.hub.last_id)
    source.relays, source.complete = (Relay(state="failed", reason="gone", complete=False),), False
    source.tell()
    source.tell()  # nothing new
    assert await event(channel, reader) == (
        "relays",
        {
            "complete": False,
            "relays": [{"url": RELAY, "state": "failed", "reason": "gone", "complete": False}],
        },
    )
    source.add("Anna", 50)
    source.tell("anna")
    assert (await event(channel, reader))[0] == "change"


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


PROVED, SHARP, GENTLE = Wanted(proved=True), Wanted(proved=True, level="sharp"), Wanted(True, "gentle")


def prove(board: LiveBoard, row: SignedScore, level: str) -> None:
    board.proofs.add(row.d, Proof(row.event_id, "ab" * 16, level, "cd" * 32))


def told(document: dict[str, Any]) -> list[tuple[int, str, str]]:
    return [(row["rank"], row["username"], row["proof"]["level"]) for row in document["entries"]]


async def test_a_stream_of_proved_rows_ranks_them_among_themselves_and_hears_of_no_others(
    source: Source, board: LiveBoard
) -> None:
    source.add("Top", 120)
    prove(board, source.add("Anna", 50), "gentle")
    prove(board, source.add("Bob", 40), "sharp")
    proved, sharp, gentle = (board.channel(wanted) for wanted in (PROVED, SHARP, GENTLE))
    readers = [(channel, channel.hub.join(None)) for channel in (proved, sharp, gentle)]
    begun = [await event(channel, reader) for channel, reader in readers]
    assert [(kind, told(document)) for kind, document in begun] == [
        ("board", [(1, "Anna", "gentle"), (2, "Bob", "sharp")]),
        ("board", [(1, "Bob", "sharp")]),
        ("board", [(1, "Anna", "gentle")]),
    ]
    source.add("Top", 110, NOW + 1)  # which no match proves
    source.tell("top")
    carl = source.add("Carl", 45)
    source.tell("carl")
    prove(board, carl, "sharp")
    source.tell("carl")
    for (channel, reader), rank in zip(readers[:2], (2, 1), strict=True):
        kind, document = await event(channel, reader)
        assert (kind, told(document), document["removed"]) == ("change", [(rank, "Carl", "sharp")], [])
    source.add("Anna", 100, NOW + 1)  # a claim in its place
    source.tell("anna")
    for channel, reader in (readers[0], readers[2]):
        assert await event(channel, reader) == ("change", {"entries": [], "removed": ["anna"]})
    # Whoever comes now is told the same as those that were there.
    late = proved.hub.join(None)
    _, document = await event(proved, late)
    assert told(document) == [(1, "Carl", "sharp"), (2, "Bob", "sharp")]
    assert board.channel(PROVED) is proved


async def test_a_relay_that_fails_is_told_on_every_stream(source: Source, board: LiveBoard) -> None:
    channel = board.channel(PROVED)
    reader = channel.hub.join(channel.hub.last_id)
    source.relays, source.complete = (Relay(state="failed", reason="gone", complete=False),), False
    source.tell()
    kind, document = await event(channel, reader)
    assert (kind, document["complete"]) == ("relays", False)


@pytest.mark.parametrize("wanted", [EVERY_ROW, SHARP])
async def test_closing_lets_everybody_go(board: LiveBoard, wanted: Wanted) -> None:
    waiting = asyncio.create_task(board.ready())
    reader = board.channel(wanted).hub.join(None)
    board.close()
    await waiting
    for one in (reader, board.channel(wanted).hub.join(None), board.channel(GENTLE).hub.join(None)):
        assert await one.next(lambda: b"") is None


async def test_an_open_board_leaves_nothing_behind() -> None:
    tasks = asyncio.all_tasks()
    async with open_board([NOWHERE], {PUBKEY}, Clock(NOW)) as board:
        await board.ready()
        assert [(relay.url, relay.state) for relay in board.relays] == [(NOWHERE, "failed")]
    assert asyncio.all_tasks() == tasks
