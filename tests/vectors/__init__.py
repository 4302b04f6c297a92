"""Values made independently of the code, and how tests read them."""

import json
from pathlib import Path
from typing import Any


def load(name: str) -> Any:
    """The vectors in `name`."""
    return json.loads((Path(__file__).parent / name).read_text())


def action_text(entry: dict[str, Any]) -> str:
    """The text of an auction entry `{"action", "rank" or "points"}`."""
    return " ".join(str(entry[key]) for key in ("action", "rank", "points") if key in entry)
