"""What a stream tells its readers at once, and when it lets them begin anew instead."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING, Any

import pytest

from app.scores.proofs import Proof, Proofs, Wanted
from app.scores.selection import Selection
from app.web.board import BoardView
from app.web.board_windows import EVERY_ROW
from app.web.channel import MAX_TOLD, Channel
from tests.clock import Clock
from tests.web.boards import NOW, Source

if TYPE_CHECKING:
    from app.web.event_stream import Reader


async def event(channel: Channel, reader: Reader) -> tuple[str, Any]:
    text = await reader.next(lambda: channel.beginning(3))
    assert text is not None
    kind, _, data = text.decode().strip().splitlines()
    return kind.removeprefix("event: "), json.loads(data.removeprefix("data: "))


@pytest.fixture
def source() -> Source:
    return Source()


async def test_many_changed_rows_are_not_told_one_by_one(source: Source) -> None:
    view = BoardView(source, Clock(NOW))
    channel = Channel(view, source.board, EVERY_ROW, lambda names: names)
    reader = channel.hub.join(channel.hub.last_id)
    names = [f"p{number}" for number in range(MAX_TOLD + 1)]
    for name in names:
        source.add(name, 50)
    channel.tell(names)
    kind, document = await event(channel, reader)
    assert (kind, len(document["entries"])) == ("board", 3)
    channel.tell(names[:-1])
    kind, document = await event(channel, reader)
    assert (kind, len(document["entries"])) == ("change", MAX_TOLD)


async def test_rows_that_are_not_its_own_do_not_count(source: Source) -> None:
    proofs, wanted = Proofs(), Wanted(proved=True, level="sharp")
    selection = Selection(source.board, proofs, wanted)
    channel = Channel(BoardView(source, Clock(NOW), proofs), selection, wanted, selection.update)
    reader = channel.hub.join(channel.hub.last_id)
    names = [f"p{number}" for number in range(2 * MAX_TOLD)]
    for name in names:
        row = source.add(name, 50)
    proofs.add(row.d, Proof(row.event_id, "ab" * 16, "sharp", "cd" * 32))
    channel.tell(names)
    kind, document = await event(channel, reader)
    assert (kind, document["removed"]) == ("change", [])
    assert [(one["rank"], one["username"]) for one in document["entries"]] == [(1, names[-1])]
    channel.tell(names)  # nothing new
    source.delete(names[-1])
    channel.tell(names)
    assert await event(channel, reader) == ("change", {"entries": [], "removed": [names[-1]]})
