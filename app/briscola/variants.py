"""Every variant by name."""

from __future__ import annotations

from typing import TYPE_CHECKING

from app.briscola.chiamata import Chiamata
from app.briscola.partnership import Partnership
from app.briscola.two_player import TwoPlayer

if TYPE_CHECKING:
    from app.briscola.game import State

VARIANTS: dict[str, type[State]] = {cls.variant: cls for cls in (TwoPlayer, Partnership, Chiamata)}
"""Variant name -> the class whose `start` deals it."""
