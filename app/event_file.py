"""The events in a file: one event, a JSON array of them, or one on each line."""

from __future__ import annotations

from itertools import chain
from typing import TYPE_CHECKING, BinaryIO

from app.nostr import json_text

if TYPE_CHECKING:
    from collections.abc import Iterator

MAX_LINE = 64 * 1024 * 1024  # bytes; what is longer is cut off, and so is no JSON
MAX_DOCUMENT = 1024 * 1024  # bytes of a single event that is spread over several lines

_SPACE = b" \t\r\n"


class UnusableFile(ValueError):
    """The file holds no events that could be checked; the message says why."""


def read_events(stream: BinaryIO) -> Iterator[str | bytes]:
    """The text of each event, unchecked; of a file of lines never more than one line at a time.

    Raises:
        UnusableFile: the file cannot be read, is empty, or begins as an array and is not a whole one.
    """
    lines = _lines(stream)
    first = next(lines, None)
    if first is None:
        raise UnusableFile("it is empty")
    if first.lstrip(_SPACE).startswith(b"["):
        yield from _array(first + b"".join(lines))
    else:
        yield from _event_or_lines(first, lines)


def _array(data: bytes) -> Iterator[str]:
    empty = True
    try:
        for element in json_text.split_array(data.decode()):
            empty = False
            yield element
    except UnicodeDecodeError as error:
        raise UnusableFile(f"it is not UTF-8 at byte {error.start}") from None
    except json_text.InvalidJson as error:
        raise UnusableFile(str(error)) from None
    if empty:
        raise UnusableFile("its array is empty")


def _event_or_lines(first: bytes, lines: Iterator[bytes]) -> Iterator[bytes]:
    """Lines, unless they make one JSON value only together."""
    if _is_json(first):
        yield from chain([first], lines)
        return
    head, length = [first], len(first)
    for line in lines:
        head.append(line)
        length += len(line)
        if length > MAX_DOCUMENT:
            break
    else:
        whole = b"".join(head)
        if _is_json(whole):
            yield whole
            return
    yield from chain(head, lines)


def _lines(stream: BinaryIO) -> Iterator[bytes]:
    """The lines that are not blank, split at line feeds only."""
    while line := _read_line(stream):
        rest = line
        while len(rest) == MAX_LINE and not rest.endswith(b"\n"):
            rest = _read_line(stream)
        if line.strip(_SPACE):
            yield line


def _read_line(stream: BinaryIO) -> bytes:
    try:
        return stream.readline(MAX_LINE)
    except OSError as error:
        raise UnusableFile(f"reading it failed: {error.strerror}") from None


def _is_json(text: bytes) -> bool:
    try:
        json_text.parse(text)
    except json_text.InvalidJson:
        return False
    return True
