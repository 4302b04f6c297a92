"""Logging to stderr: one line a record, as text for people or JSON for machines.

What a record is about is given as `extra` with the names of FIELDS; in JSON each is a field of its own.
"""

from __future__ import annotations

import logging
import time
from typing import Literal

import orjson

FIELDS = ("relay", "event", "address")
"""The relay's URL, the event's id, and what the event stands at (`kind:pubkey:d`)."""


class _JsonFormatter(logging.Formatter):
    def format(self, record: logging.LogRecord) -> str:
        line: dict[str, object] = {
            "time": self.formatTime(record, "%Y-%m-%dT%H:%M:%SZ"),
            "level": record.levelname.lower(),
            "logger": record.name,
            "message": record.getMessage(),
        }
        line |= {name: getattr(record, name) for name in FIELDS if hasattr(record, name)}
        if record.exc_info:
            line["exception"] = self.formatException(record.exc_info)
        return orjson.dumps(line).decode()


def configure_logging(level: str, style: Literal["text", "json"]) -> None:
    """Send every record of `level` or above to stderr."""
    formatter = (
        _JsonFormatter()
        if style == "json"
        else logging.Formatter("%(asctime)s %(levelname)-7s %(name)s  %(message)s", "%Y-%m-%dT%H:%M:%SZ")
    )
    formatter.converter = time.gmtime
    handler = logging.StreamHandler()
    handler.setFormatter(formatter)
    logging.basicConfig(level=level.upper(), handlers=[handler], force=True)
    for chatty in ("alembic", "uvicorn"):
        logging.getLogger(chatty).setLevel(logging.DEBUG if level == "debug" else logging.WARNING)
    # It logs whole addresses, and a relay's may hold a token in its query.
    logging.getLogger("httpx").setLevel(logging.WARNING)
