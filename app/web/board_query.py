"""What GET /v1/leaderboard can be asked: its query, read strictly."""

from __future__ import annotations

import re
import struct
from base64 import urlsafe_b64decode, urlsafe_b64encode
from binascii import Error as Base64Error
from functools import lru_cache
from typing import TYPE_CHECKING, Any, NamedTuple
from urllib.parse import parse_qsl

from app.briscola.computer import LEVELS
from app.scores.leaderboard import Position
from app.scores.proofs import Wanted
from app.web.problems import Problem

if TYPE_CHECKING:
    from app.web.answers import FaultDocument

DEFAULT_LIMIT = 50
MAX_LIMIT = 500
PERIODS = {"day": 86_400, "week": 7 * 86_400}
_MINUTE = 60
PARAMETERS = ("limit", "cursor", "since", "until", "around", "proved", "level")
STREAM_PARAMETERS = ("limit", "proved", "level")

_NUMBER = re.compile(r"[0-9]{1,15}")
MAX_TIME = 10**15 - 1
_CURSOR = struct.Struct(">BQ32s")  # score, created_at, id
_CURSOR_LENGTH = (_CURSOR.size * 4 + 2) // 3


class BoardQuery(NamedTuple):
    """Which part of the board is asked for; a named tuple, since answers are kept by it.

    Attributes:
        limit: rows at most; None for all, which only the command line may ask for.
        cursor: the place behind which to begin.
        since: unix seconds, or a period that ends now.
        until: unix seconds.
        around: a player's name, whose row is to be in the middle.
        proved: whether only proved scores are asked for.
        level: the computer's that they must have been played against.
    """

    limit: int | None = DEFAULT_LIMIT
    cursor: Position | None = None
    since: int | str | None = None
    until: int | None = None
    around: str | None = None
    proved: bool = False
    level: str | None = None

    @property
    def is_costly(self) -> bool:
        """Whether a ranking is made for this call alone."""
        return isinstance(self.since, int) or self.until is not None

    @property
    def wanted(self) -> Wanted:
        """Which rows count; what was played against a level is proved."""
        return Wanted(self.proved or self.level is not None, self.level)

    def window(self, now: float) -> tuple[int | None, int | None]:
        """Since and until in unix seconds; a period begins at a whole minute, to be shared."""
        if isinstance(self.since, str):
            return int(now) // _MINUTE * _MINUTE - PERIODS[self.since], self.until
        return self.since, self.until


@lru_cache(maxsize=256)
def parse_query(query: bytes, known: tuple[str, ...] = PARAMETERS) -> BoardQuery:
    """Read a query string in which these parameters are `known`.

    Raises:
        Problem: 422, which names every parameter that is faulty, unknown or there twice.
    """
    given: dict[str, str] = {}
    errors: list[FaultDocument] = []

    def fault(name: str, message: str) -> None:
        errors.append({"field": name[:64], "message": message})

    for name, value in parse_qsl(query.decode("latin-1"), keep_blank_values=True, encoding="utf-8"):
        if name not in known:
            fault(name, f"is no parameter here: known are {', '.join(known)}")
        elif name in given:
            fault(name, "is there twice: give it once")
        else:
            given[name] = value
    read: dict[str, Any] = {}
    for name, value in given.items():
        try:
            read[name] = _READERS[name](value)
        except ValueError as error:
            fault(name, str(error))
    if "around" in given and "cursor" in given:
        fault("cursor", "goes without around: give one of the two")
    if errors:
        raise Problem("invalid-query", f"{errors[0]['field']}: {errors[0]['message']}.", errors=errors)
    return BoardQuery(**read)


def _limit(text: str) -> int:
    if not _NUMBER.fullmatch(text) or not 1 <= int(text) <= MAX_LIMIT:
        raise ValueError(f"is no whole number from 1 to {MAX_LIMIT}")
    return int(text)


def _seconds(text: str) -> int:
    if not _NUMBER.fullmatch(text):
        raise ValueError("is no time in whole unix seconds")
    return int(text)


def _since(text: str) -> int | str:
    if text in PERIODS:
        return text
    if not _NUMBER.fullmatch(text):
        raise ValueError(f"is neither a time in whole unix seconds nor one of {', '.join(PERIODS)}")
    return int(text)


def _name(text: str) -> str:
    if not text:
        raise ValueError("is empty: give a player's name")
    return text


def cursor_text(position: Position) -> str:
    """A position as clients keep it."""
    score, created_at, event_id = position
    return urlsafe_b64encode(_CURSOR.pack(score, created_at, bytes.fromhex(event_id))).rstrip(b"=").decode()


def _cursor(text: str) -> Position:
    try:
        if len(text) != _CURSOR_LENGTH or not text.isascii():
            raise ValueError
        score, created_at, event_id = _CURSOR.unpack(urlsafe_b64decode(text + "=" * (-len(text) % 4)))
    except (ValueError, struct.error, Base64Error):
        raise ValueError("is none that was given out here: leave it out to begin at the top") from None
    return Position(score, created_at, event_id.hex())


def _switch(text: str) -> bool:
    if text not in _SWITCH:
        raise ValueError("is neither 1, for proved scores alone, nor 0")
    return text == "1"


def _level(text: str) -> str:
    if text not in LEVELS:
        raise ValueError(f"is no level: there are {', '.join(LEVELS)}")
    return text


_SWITCH = ("0", "1")
_READERS = {
    "limit": _limit,
    "cursor": _cursor,
    "since": _since,
    "until": _seconds,
    "around": _name,
    "proved": _switch,
    "level": _level,
}
