"""Secrets that tests hand out, and the means to find where they show."""

from __future__ import annotations

import base64
import json
import logging
import traceback
from contextlib import contextmanager
from typing import TYPE_CHECKING

from app.nostr import nip19

if TYPE_CHECKING:
    from collections.abc import Iterator


# A key of no meaning, but the same in every run, so that a failure can be looked into.
NUMBER = 0xC0FFEE5EC12E7_9E3779B97F4A7C15F39CC0605CEDC834_1082276BF3A27251
SECRET = NUMBER.to_bytes(32)
NSEC = nip19.encode("nsec", SECRET)
WRONG_KEY = "bsk_0123456789abcdef_wr0ngKeyThatSomebodySent"
JWT = "eyJhbGciOiJub25lIn0.eyJzdWIiOiJhbGljZSJ9.c2lnbmF0dXJlT2ZBSnd0"
NOSTR = base64.b64encode(json.dumps({"id": "0" * 64, "sig": "5" * 128}).encode()).decode()
BODY = b'{"username":"alice","score":60}'
JSON = {"Content-Type": "application/json"}
REDIS_PASSWORD = "r3disPassw0rd"
RELAY_TOKEN = "t0kenThatTheRelayWants"
OF_SECRET = [
    SECRET.hex(),
    NSEC,
    str(NUMBER),
    repr(SECRET)[2:-1],
    base64.b64encode(SECRET).decode(),
    hex(NUMBER),
]


def shown_in(text: str, needles: list[str]) -> list[str]:
    """Which secrets a text shows, in any spelling of their letters."""
    return [needle for needle in needles if needle.lower() in text.lower()]


class Kept(logging.Handler):
    """Every log record at any level, as text; exceptions also with the variables of their frames."""

    def __init__(self) -> None:
        super().__init__(logging.NOTSET)
        self.lines: list[str] = []
        self.variables: list[str] = []
        self.setFormatter(logging.Formatter("%(levelname)s %(name)s %(message)s"))

    def emit(self, record: logging.LogRecord) -> None:
        self.lines.append(self.format(record))
        if record.exc_info and record.exc_info[1]:
            self.variables.append(with_variables(record.exc_info[1]))


def with_variables(error: BaseException) -> str:
    return "".join(traceback.TracebackException.from_exception(error, capture_locals=True).format())


@contextmanager
def everything_logged() -> Iterator[Kept]:
    kept, root = Kept(), logging.getLogger()
    names = [
        "",
        "app",
        "uvicorn",
        "uvicorn.error",
        "httpx",
        "httpcore",
        "websockets",
        "sqlalchemy",
        "alembic",
    ]
    before = {name: logging.getLogger(name).level for name in names}
    handlers = root.handlers[:]
    root.addHandler(kept)
    for name in names:
        logging.getLogger(name).setLevel(logging.DEBUG)
    try:
        yield kept
    finally:
        root.handlers[:] = handlers
        for name, level in before.items():
            logging.getLogger(name).setLevel(level)


def bearer(text: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {text}"}
