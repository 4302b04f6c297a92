"""JSON (RFC 8259) read exactly as JavaScript's `JSON.parse` reads it, at any depth, without recursion.

Two readers that agree wherever both answer: orjson, and an exact one for what orjson refuses but `JSON.parse`
takes (deep nesting, lone surrogates, numbers beyond a double).
"""

from __future__ import annotations

import json
import re
from typing import TYPE_CHECKING, Any

import orjson

if TYPE_CHECKING:
    from collections.abc import Iterator

# The exact reader is slow; 256 KiB hold every event whose content is up to 64 KiB, however it is escaped.
EXACT_LIMIT = 256 * 1024

_TOKEN = re.compile(
    r"[ \t\n\r]*+(?:"
    r"(?P<mark>[\[\]{},:])"
    r'|(?P<string>"[^"\\\x00-\x1f]*+(?:\\(?:["\\/bfnrt]|u[0-9a-fA-F]{4})[^"\\\x00-\x1f]*+)*+")'
    r"|(?P<number>-?(?:0|[1-9][0-9]*+)(?P<fraction>(?:\.[0-9]++)?+(?:[eE][+-]?[0-9]++)?+))"
    r"|(?P<word>true|false|null))"
)
_WORDS = {"true": True, "false": False, "null": None}
_STRUCTURE = re.compile(r'"[^"\\]*+(?:\\.[^"\\]*+)*+"|[\[\]{},"]', re.DOTALL)
_SPACE = " \t\n\r"
_BLANK = re.compile(r"[ \t\n\r]*+")
_INTEGERS = range(-(2**63), 2**64)  # beyond these an integer becomes a double, as in orjson
_INTEGER_LENGTH = 20


class InvalidJson(ValueError):
    """The text is not JSON; the message says where it stops being JSON."""


def parse(text: str | bytes) -> Any:
    """The value of a JSON text: of a key that occurs twice in an object the last wins.

    Raises:
        InvalidJson: what `JSON.parse` refuses, and texts over `EXACT_LIMIT` that orjson cannot read.
    """
    try:
        return orjson.loads(text)
    except orjson.JSONDecodeError:
        return read_exactly(text)[0]


def parse_outermost(text: str | bytes) -> tuple[Any, str | None]:
    """`parse`, and the first key that occurs twice in the outermost object; raises like `parse`."""
    try:
        value = orjson.loads(text)
    except orjson.JSONDecodeError:
        return read_exactly(text)
    if not isinstance(value, dict):
        return value, None
    data = text.encode() if isinstance(text, str) else text
    try:
        written = orjson.dumps(value)
    except orjson.JSONEncodeError:
        return value, _repeated_key(text)  # nested deeper than orjson writes
    # Compact text without repetition comes back as it was. In other text, without \u, the keys and strings of
    # the value have the quotation marks that orjson writes, and whatever was overwritten has more.
    if written == data or (data.count(b'"') == written.count(b'"') and b"\\u" not in data):
        return value, None
    return value, _repeated_key(text)


def read_exactly(text: str | bytes) -> tuple[Any, str | None]:
    """The value of a JSON text, and the first key that occurs twice in its outermost object.

    Raises:
        InvalidJson: the text is not JSON, not UTF-8, or over `EXACT_LIMIT`.
    """
    if isinstance(text, bytes):
        if len(text) > EXACT_LIMIT:
            raise InvalidJson(_too_long(len(text)))
        try:
            text = text.decode()
        except UnicodeDecodeError as error:
            raise InvalidJson(f"the text is not UTF-8 at byte {error.start}") from None
    if len(text) > EXACT_LIMIT:
        raise InvalidJson(_too_long(len(text)))
    if text.startswith("\ufeff"):
        raise InvalidJson("the text begins with a byte order mark, which JSON has not")
    return _Reader(text).document()


def split_array(text: str) -> Iterator[str]:
    """The text of each element of a JSON array, as it stands; the elements are not checked.

    Raises:
        InvalidJson: the text is no array, breaks off, or goes on behind it.
    """
    depth = start = 0
    for token in _STRUCTURE.finditer(text):
        mark = token[0]
        if mark == '"':
            break  # a string that never ends
        if depth == 0:
            if mark != "[" or text[: token.start()].strip(_SPACE):
                break
            depth, start = 1, token.end()
        elif mark in "[{":
            depth += 1
        elif mark in "]}":
            depth -= 1
            if depth == 0:
                element = text[start : token.start()]
                if element.strip(_SPACE):
                    yield element
                if text[token.end() :].strip(_SPACE):
                    raise InvalidJson(f"something follows the end of the array at character {token.end()}")
                return
        elif mark == "," and depth == 1:
            yield text[start : token.start()]
            start = token.end()
    raise InvalidJson("the text is not a whole JSON array: it does not begin with [ or breaks off")


def _repeated_key(text: str | bytes) -> str | None:
    """The first key that occurs twice in the outermost object of a text that orjson has read."""
    outermost: list[str] = []

    def keep_keys(pairs: list[tuple[str, Any]]) -> None:
        outermost[:] = [key for key, _ in pairs]  # called for the outermost object last

    try:
        json.loads(text, object_pairs_hook=keep_keys, parse_int=float)
    except RecursionError:
        return read_exactly(text)[1]
    seen: set[str] = set()
    for key in outermost:
        if key in seen:
            return key
        seen.add(key)
    return None


def _too_long(length: int) -> str:
    return f"the text is not plain JSON and too long ({length}) to be read exactly"


class _Reader:
    """The exact reader: a position in the text and a stack of the arrays and objects that are still open."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._position = 0
        self._open: list[dict[str, Any] | list[Any]] = []
        self._keys: list[str] = []  # for each open object the key whose value is being read
        self._duplicate: str | None = None

    def document(self) -> tuple[Any, str | None]:
        """The one value of the text, and the outermost object's first repeated key."""
        while True:
            value = self._value()
            if value is _OPENED:
                continue
            while self._open:
                container = self._open[-1]
                if isinstance(container, list):
                    container.append(value)
                else:
                    self._put(container, value)
                if self._mark(",", "]" if isinstance(container, list) else "}") == ",":
                    if isinstance(container, dict):
                        self._keys[-1] = self._key()
                    break
                value = self._open.pop()
                if isinstance(value, dict):
                    self._keys.pop()
            else:
                end = _BLANK.match(self._text, self._position)
                if end is None or end.end() != len(self._text):
                    raise self._error("the end of the text")
                return value, self._duplicate

    def _put(self, container: dict[str, Any], value: Any) -> None:
        key = self._keys[-1]
        if len(self._open) == 1 and self._duplicate is None and key in container:
            self._duplicate = key
        container[key] = value

    def _value(self) -> Any:
        """A finished value, or `_OPENED` after the start of an array or object that is not empty."""
        token = self._token("a value")
        if token["string"]:
            return _string(token["string"])
        if token["number"]:
            return _number(token["number"], is_integer=not token["fraction"])
        if token["word"]:
            return _WORDS[token["word"]]
        opening = token["mark"]
        if opening not in "[{":
            raise self._error("a value", token)
        following = _TOKEN.match(self._text, self._position)
        if following is not None and following["mark"] == ("]" if opening == "[" else "}"):
            self._position = following.end()
            return [] if opening == "[" else {}
        if opening == "[":
            self._open.append([])
        else:
            self._open.append({})
            self._keys.append(self._key())
        return _OPENED

    def _key(self) -> str:
        """An object's key and the colon behind it."""
        token = self._token("a key")
        if not token["string"]:
            raise self._error("a key", token)
        self._mark(":")
        return _string(token["string"])

    def _mark(self, *wanted: str) -> str:
        token = self._token(" or ".join(wanted))
        if token["mark"] not in wanted:
            raise self._error(" or ".join(wanted), token)
        return token["mark"]

    def _token(self, wanted: str) -> re.Match[str]:
        token = _TOKEN.match(self._text, self._position)
        if token is None:
            raise self._error(wanted)
        self._position = token.end()
        return token

    def _error(self, wanted: str, found: re.Match[str] | None = None) -> InvalidJson:
        position = self._position if found is None else found.end() - 1
        return InvalidJson(f"not JSON at character {position}: {wanted} expected")


_OPENED = object()


def _string(token: str) -> str:
    """The text of a string token that the grammar has accepted; lone surrogates stay what they are."""
    return str(json.loads(token)) if "\\" in token else token[1:-1]


def _number(text: str, *, is_integer: bool) -> int | float:
    if is_integer and len(text) <= _INTEGER_LENGTH and (value := int(text)) in _INTEGERS:
        return value
    return float(text)
