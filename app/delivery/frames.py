"""The frames of RFC 6455 that a client meets by the thousand, in a fraction of the library's time; pure.

Every other frame, and whatever is wrong with one, is for the library.
"""

from __future__ import annotations

from websockets.utils import apply_mask

_WHOLE_TEXT = 0x81  # FIN, and opcode 1
_TWO_BYTES, _EIGHT_BYTES = 126, 127  # in place of a length: it follows in so many bytes


def text_frame(message: str, mask: bytes) -> bytes:
    """A whole message as one masked frame (5.2); `mask` has 4 random bytes."""
    data = message.encode()
    length = len(data)
    if length < _TWO_BYTES:
        head = b"\x81" + (0x80 | length).to_bytes()
    elif length < 1 << 16:
        head = b"\x81\xfe" + length.to_bytes(2)
    else:
        head = b"\x81\xff" + length.to_bytes(8)
    return head + mask + apply_mask(data, mask)


def take_texts(data: bytes, start: int, messages: list[bytes]) -> int:
    """Append what the whole, unmasked text frames at `start` hold; returns where they end."""
    last = len(data) - 4  # of the starts that a head of four bytes can have
    while start <= last and data[start] == _WHOLE_TEXT:
        length = data[start + 1]
        begin = start + 2
        if length == _TWO_BYTES:
            length = data[begin] << 8 | data[begin + 1]
            begin += 2
        elif length > _TWO_BYTES:
            break
        if (end := begin + length) > len(data):
            break
        messages.append(data[begin:end])
        start = end
    return start


def frame_end(data: bytes, start: int) -> int | None:
    """Where the frame that begins at `start` ends; None if too little of it is there to tell."""
    if len(data) < start + 2:
        return None
    masked, length = divmod(data[start + 1], 0x80)
    begin = start + 2
    if length >= _TWO_BYTES:
        begin += 2 if length == _TWO_BYTES else 8
        if len(data) < begin:
            return None
        length = int.from_bytes(data[start + 2 : begin])
    return begin + 4 * masked + length
