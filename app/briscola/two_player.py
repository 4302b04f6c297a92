"""Two players (seed 000): a stock of 34, twenty tricks, the last three of them from the hand."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from app.briscola.stock_deal import StockDeal


@dataclass(frozen=True, slots=True)
class TwoPlayer(StockDeal):
    """A two-player hand at one moment."""

    variant: ClassVar[str] = "two-player"
    seats: ClassVar[int] = 2
    sides: ClassVar[tuple[tuple[int, ...], ...]] = ((0,), (1,))
