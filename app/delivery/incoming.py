"""Messages out of what a relay sends, however its stream is cut; without IO.

Plain text frames are taken at once; every other one goes to the library whole, which knows the protocol.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from websockets.frames import Frame, Opcode
from websockets.protocol import State

from app.delivery.frames import frame_end, take_texts

if TYPE_CHECKING:
    from websockets.client import ClientProtocol

_LONGEST_HEAD = 10


class Incoming:
    """The stream of one connection, from behind the handshake on."""

    def __init__(self, protocol: ClientProtocol, message_limit: int) -> None:
        """Feed `protocol`, which refuses messages of more bytes than `message_limit`."""
        self._protocol = protocol
        self._frame_limit = message_limit + _LONGEST_HEAD
        self._tail = bytearray()  # of what was read: the beginning of a frame
        self._frame_size = 0  # of that frame, if enough of it is there to tell
        self._fragments = bytearray()  # of a message that goes on
        self._fragmented = self._binary = False

    def feed(self, data: bytes) -> tuple[list[bytes], int]:
        """The messages that are complete now, in order, and how many frames the library has read."""
        messages: list[bytes] = []
        if self._tail:
            self._tail += data
            if len(self._tail) < self._frame_size:
                return messages, 0  # nothing is looked at again for every byte of a long frame
            data = bytes(self._tail)
        others = at = size = 0
        while at < len(data):
            if not self._fragmented and self._protocol.state is State.OPEN:
                at = take_texts(data, at, messages)
            end = frame_end(data, at)
            if self._protocol.state is not State.OPEN or (end is not None and end - at > self._frame_limit):
                end = len(data)  # the library closes, or will have to: it can have everything
            if end is None or end > len(data):
                size = 0 if end is None else end - at
                break
            self._protocol.receive_data(data[at:end])
            others += self._take_others(messages)
            at = end
        self._tail, self._frame_size = bytearray(data[at:]), size
        return messages, others

    def _take_others(self, messages: list[bytes]) -> int:
        """Take the frames that the library has read; returns how many there were."""
        frames = [event for event in self._protocol.events_received() if isinstance(event, Frame)]
        for frame in frames:
            if frame.opcode in (Opcode.TEXT, Opcode.BINARY, Opcode.CONT):
                if frame.opcode is not Opcode.CONT:
                    self._binary = frame.opcode is Opcode.BINARY
                self._fragments += frame.data
                self._fragmented = not frame.fin
                if frame.fin:
                    messages.append(b"" if self._binary else bytes(self._fragments))
                    self._fragments.clear()
        return len(frames)
