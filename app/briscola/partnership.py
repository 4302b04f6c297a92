"""Four players in partnership (seed 003): seats 0 and 2 against 1 and 3, a stock of 28, ten tricks."""

from __future__ import annotations

from dataclasses import dataclass
from typing import ClassVar

from app.briscola.stock_deal import StockDeal


@dataclass(frozen=True, slots=True)
class Partnership(StockDeal):
    """A deal of four at one moment; partners count their points together."""

    variant: ClassVar[str] = "partnership"
    seats: ClassVar[int] = 4
    sides: ClassVar[tuple[tuple[int, ...], ...]] = ((0, 2), (1, 3))
