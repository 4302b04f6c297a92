"""The file that a command reads."""

from __future__ import annotations

import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

from app.cli.unusable import Unusable
from app.scores.consistency import shown

if TYPE_CHECKING:
    from contextlib import AbstractContextManager


def opened(file: str) -> AbstractContextManager[BinaryIO]:
    """The file, or standard input for `-`.

    Raises:
        Unusable: it cannot be opened.
    """
    if file == "-":
        if sys.stdin is None:
            raise Unusable("cannot read standard input: it is closed")
        return nullcontext(sys.stdin.buffer)
    try:
        return Path(file).open("rb")
    except OSError as error:
        raise Unusable(f"cannot read {shown(file)}: {error.strerror}") from None
    except ValueError as error:
        raise Unusable(f"cannot read {shown(file)}: {error}") from None
