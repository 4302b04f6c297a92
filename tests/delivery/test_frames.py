from __future__ import annotations

import pytest
from websockets.frames import Frame, Opcode
from websockets.protocol import Protocol, Side

from app.delivery.frames import frame_end, take_texts, text_frame


@pytest.mark.parametrize("length", [0, 1, 125, 126, 65_535, 65_536, 1_000_000])
def test_our_frames_are_read_back_by_the_library(length: int) -> None:
    reader = Protocol(Side.SERVER, max_size=None)
    reader.receive_data(text_frame("x" * length, b"\x01\x80\xff\x00"))
    [frame] = reader.events_received()
    assert frame == Frame(Opcode.TEXT, b"x" * length)


@pytest.mark.parametrize("length", [2, 125, 126, 65_535])
def test_the_librarys_frames_are_taken_when_they_are_whole(length: int) -> None:
    server = Protocol(Side.SERVER)
    server.send_text(b"x" * length)
    [data] = server.data_to_send()
    for missing in (1, 2, len(data) - 1):
        messages: list[bytes] = []
        assert take_texts(data + data[:-missing], 0, messages) == len(data)
        assert messages == [b"x" * length]


@pytest.mark.parametrize("length", [0, 125, 126, 65_535, 65_536])
@pytest.mark.parametrize("side", [Side.SERVER, Side.CLIENT])
def test_where_a_frame_ends(length: int, side: Side) -> None:
    protocol = Protocol(side)
    protocol.send_ping(b"") if length == 0 else protocol.send_binary(b"x" * length)
    [data] = protocol.data_to_send()
    assert frame_end(b"??" + data, 2) == 2 + len(data)
    masked = 4 * (side is Side.CLIENT)
    assert frame_end(data[: len(data) - length - masked - 1], 0) is None


@pytest.mark.parametrize(
    "data",
    [
        b"\x01\x02hi",
        b"\x82\x02hi",
        b"\x89\x02hi",
        b"\x81\x82....hi",
        b"\xc1\x02hi",
        b"\x81\x7f" + bytes(7) + b"\x02hi",
    ],
)
def test_other_frames_are_left_to_the_library(data: bytes) -> None:
    assert take_texts(data, 0, []) == 0
