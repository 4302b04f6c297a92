"""Moves at the table of /play, as a person makes them in a browser."""

from __future__ import annotations

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from tests.browser import Page

YOURS = "document.querySelector('#hand').dataset.waiting === 'no'"
OVER = "!document.querySelector('#outcome').hidden"
CARDS = "[...document.querySelectorAll('#hand .card')].map((card) => card.dataset.card)"


async def play(tab: Page, tricks: int) -> None:
    """Play the first card in hand so many times, with the mouse."""
    for _ in range(tricks):
        await tab.until(YOURS)
        await tab.click("#hand .card")
    await tab.until(YOURS)


async def points(tab: Page) -> tuple[int, int]:
    """What the table shows for both sides."""
    return int(await tab.text("#your-points")), int(await tab.text("#their-points"))


async def choose_level(tab: Page, level: str) -> None:
    """Choose the computer's level beside the table."""
    await tab.evaluate(
        f"(() => {{ const level = document.querySelector('#level'); level.value = '{level}';"
        " level.dispatchEvent(new Event('change')); })()"
    )
