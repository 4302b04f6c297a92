"""The app's secret key from a file that a setting names, instead of from the environment itself."""

from __future__ import annotations

import stat
from pathlib import Path

SECRET = "BRISCOLA_SECRET_KEY"  # noqa: S105 - a setting's name
SECRET_FILE = f"{SECRET}_FILE"


def read(given: dict[str, str]) -> tuple[list[str], list[str]]:
    """Put the secret that a file holds where the setting for the secret itself would stand.

    Args:
        given: The texts of all settings by name.

    Returns:
        Faults, and warnings of what works but should be looked at; nothing of the secret stands in them.
    """
    path = given.get(SECRET_FILE)
    if path is None:
        return [], []
    if SECRET in given:
        return [f"{SECRET_FILE}: set together with {SECRET}: keep one of the two"], []
    try:
        text = Path(path).read_text("ascii").strip()
        mode = Path(path).stat().st_mode
    except OSError as error:
        return [f"{SECRET_FILE}: the file cannot be read: {error.strerror}"], []
    except UnicodeDecodeError:
        return [f"{SECRET_FILE}: the file holds no key: put 64 hex digits or an nsec into it"], []
    if not text:
        return [f"{SECRET_FILE}: the file is empty: put 64 hex digits or an nsec into it"], []
    given[SECRET] = text
    exposed = mode & (stat.S_IRGRP | stat.S_IROTH)
    return [], [f"{SECRET_FILE}: others can read the file: chmod 600 it"] if exposed else []
