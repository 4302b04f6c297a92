from __future__ import annotations

import io
import json
from typing import Any

import pytest

from app import event_file
from app.event_file import UnusableFile, read_events

ONE = {"id": "a", "content": "\u2028\u0085 [,] {\n}"}
TWO = {"id": "b", "tags": [["x", "]"]]}


def read(data: bytes) -> list[Any]:
    return [
        event if isinstance(event, str) else event.decode(errors="replace").strip("\n")
        for event in read_events(io.BytesIO(data))
    ]


@pytest.mark.parametrize("indent", [None, 2])
@pytest.mark.parametrize("around", ["", "\n", " \r\n\t"])
def test_one_event_and_an_array(indent: int | None, around: str) -> None:
    for value, expected in ((ONE, [ONE]), ([ONE], [ONE]), ([ONE, TWO], [ONE, TWO])):
        text = around + json.dumps(value, indent=indent, ensure_ascii=False) + around
        assert [json.loads(event) for event in read(text.encode())] == expected


def test_lines_are_split_at_line_feeds_only_and_blank_ones_skipped() -> None:
    one, two = (json.dumps(event, ensure_ascii=False) for event in (ONE, TWO))
    data = f"\n{one}\r\n \t\n{two}\n\n{one}".encode()
    assert [json.loads(event) for event in read(data)] == [ONE, TWO, ONE]


def test_elements_keep_their_own_text() -> None:
    assert read(b'[{"id":1,"id":2}, NaN ,"\\ud83d",[[]]]') == [
        '{"id":1,"id":2}',
        " NaN ",
        '"\\ud83d"',
        "[[]]",
    ]
    deep = "[" * 10_000 + "]" * 10_000
    assert read(f"[{deep},1]".encode()) == [deep, "1"]


def test_a_bad_first_line_spoils_nothing() -> None:
    assert read(b'{"id":\n{"id":"b"}\nx') == ['{"id":', '{"id":"b"}', "x"]
    assert read(b'{"id":\n' + b'{"id":"b"}\n' * 200_000)[:2] == ['{"id":', '{"id":"b"}']


def test_a_line_that_is_too_long_is_cut_and_the_next_is_whole(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(event_file, "MAX_LINE", 10)
    assert read(b'{"a":1}\n' + b"x" * 95 + b"\n" + b"y" * 9 + b"\n" + b"z" * 10) == [
        *('{"a":1}', "x" * 10, "y" * 9, "z" * 10)
    ]


@pytest.mark.parametrize(
    ("data", "reason"),
    [
        (b"", "empty"),
        (b" \n\r\n", "empty"),
        (b"[]", "its array is empty"),
        (b"[ \n ]", "its array is empty"),
        (b'[{"id":"a"}', "breaks off"),
        (b'[{"id":"a"', "breaks off"),
        (b"[1] x", "something follows"),
        (b"[\xff]", "not UTF-8 at byte 1"),
    ],
)
def test_unusable_files(data: bytes, reason: str) -> None:
    with pytest.raises(UnusableFile, match=reason):
        read(data)


def test_lines_are_not_read_ahead() -> None:
    class Endless(io.RawIOBase):
        def readable(self) -> bool:
            return True

        def readinto(self, buffer: Any) -> int:
            buffer[:] = (b'{"a":1}\n' * len(buffer))[: len(buffer)]
            return len(buffer)

    events = read_events(io.BufferedReader(Endless(), buffer_size=800))
    assert [next(events) for _ in range(3)] == [b'{"a":1}\n'] * 3
