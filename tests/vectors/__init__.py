"""Vectors made outside this code, read once: see each file's own `format`."""

from __future__ import annotations

import base64
import json
from pathlib import Path
from typing import Any

HERE = Path(__file__).parent


def load(name: str) -> Any:
    """The JSON document `name` of this folder."""
    return json.loads((HERE / name).read_text(encoding="utf-8"))


def raw_of(case: dict[str, Any]) -> str | bytes:
    """The exact event text of a case, bytes where it is no UTF-8."""
    return base64.b64decode(case["raw_b64"]) if "raw_b64" in case else case["raw"]


def action_text(entry: dict[str, Any]) -> str:
    """The text of an auction entry `{"action", "rank" or "points"}`."""
    return " ".join(str(entry[key]) for key in ("action", "rank", "points") if key in entry)
