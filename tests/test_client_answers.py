"""Answers as the client gives them; those about scores are in `test_client`."""

from __future__ import annotations

import json
from typing import TYPE_CHECKING

import pytest

from app.client import Client, Refused, UnexpectedAnswer
from app.client_answers import read_board
from tests.served import served
from tests.service import running
from tests.web.boards import NOW, Source, board_of

if TYPE_CHECKING:
    from pathlib import Path


async def test_a_board_page_by_page(tmp_path: Path) -> None:
    source = Source()
    rows = [source.add(f"p{number}", 100 - number, NOW - number) for number in range(5)]
    board = board_of(source)
    async with (
        running(tmp_path, board=board) as service,
        served(service.service, board=board) as url,
        Client(url) as client,
    ):
        first = await client.leaderboard(limit=3)
        assert [(row.rank, row.username, row.score, row.created_at) for row in first.rows] == [
            (1, "p0", 100, NOW),
            (2, "p1", 99, NOW - 1),
            (3, "p2", 98, NOW - 2),
        ]
        assert first.complete is True
        assert first.rows[0].event.id == rows[0].event_id
        second = await client.leaderboard(cursor=first.next)
        assert [row.username for row in second.rows] == ["p3", "p4"]
        assert second.next is None
        assert [row.username for row in (await client.leaderboard(since=NOW - 1, until=NOW - 1)).rows] == [
            "p1"
        ]
        assert [row.username for row in (await client.leaderboard(around="P3", limit=1)).rows] == ["p3"]
        with pytest.raises(Refused) as refused:
            await client.leaderboard(around="p&limit=x")
        assert refused.value.slug == "not-found"
        with pytest.raises(Refused) as refused:
            await client.leaderboard(limit=501)
        assert refused.value.slug == "invalid-query"


@pytest.mark.parametrize("body", [b"", b"{}", b"[]", b'{"entries":[{}],"complete":true,"next":null}'])
def test_what_is_no_board_is_told(body: bytes) -> None:
    with pytest.raises((ValueError, KeyError, TypeError)):
        read_board(body)


async def test_another_service_is_told(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    async def other(*_: object, **__: object) -> bytes:
        return json.dumps({"hello": "world"}).encode()

    async with Client("http://127.0.0.1:1") as client:
        monkeypatch.setattr(client, "call", other)
        with pytest.raises(UnexpectedAnswer, match="address of the service"):
            await client.leaderboard()
