"""The pages' colours can be told apart: contrast by WCAG 2.2 (1.4.3, 1.4.11), by day and by night."""

from __future__ import annotations

import re

import pytest

from app.web.pages.assets import HERE

STYLE = (HERE / "assets" / "style.css").read_text("utf-8")
COLOUR = re.compile(r"--([\w-]+): (#[0-9a-f]{3}(?:[0-9a-f]{3})?);")
DAY = dict(COLOUR.findall(STYLE.partition("@media")[0]))
NIGHT = {
    **DAY,
    **dict(COLOUR.findall(STYLE.partition("(prefers-color-scheme: dark)")[2].partition("\n}\n")[0])),
}

GROUNDS = ("paper", "card", "wash", "glow")
TEXT = [(text, ground, 4.5) for text in ("ink", "soft", "green", "red") for ground in GROUNDS]
TEXT += [("on-green", "green", 4.5), ("gold-ink", "gold", 4.5), ("ink", "pick", 4.5)]
PARTS = [(part, ground, 3.0) for part in ("edge", "focus", "gold-edge") for ground in ("paper", "card")]


def luminance(colour: str) -> float:
    digits = colour[1:] if len(colour) == 7 else "".join(digit * 2 for digit in colour[1:])
    channels = [int(digits[at : at + 2], 16) / 255 for at in (0, 2, 4)]
    red, green, blue = (c / 12.92 if c <= 0.04045 else ((c + 0.055) / 1.055) ** 2.4 for c in channels)
    return 0.2126 * red + 0.7152 * green + 0.0722 * blue


def contrast(one: str, other: str) -> float:
    dark, light = sorted((luminance(one), luminance(other)))
    return (light + 0.05) / (dark + 0.05)


def test_the_formula_is_wcags() -> None:
    assert contrast("#fff", "#000") == pytest.approx(21)
    assert contrast("#777777", "#ffffff") == pytest.approx(4.48, abs=0.005)


@pytest.mark.parametrize("theme", [DAY, NIGHT], ids=["day", "night"])
@pytest.mark.parametrize(("part", "ground", "least"), TEXT + PARTS)
def test_it_stands_out(theme: dict[str, str], part: str, ground: str, least: float) -> None:
    assert contrast(theme[part], theme[ground]) >= least
