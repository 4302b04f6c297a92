"""Logging: one line a record on stderr."""

from __future__ import annotations

import json
import logging
import re
from typing import TYPE_CHECKING, Literal

import pytest

from app.log import configure_logging

if TYPE_CHECKING:
    from collections.abc import Iterator

STAMP = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\dZ"


@pytest.fixture(autouse=True)
def restored() -> Iterator[None]:
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    chatty = {name: logging.getLogger(name).level for name in ("alembic", "uvicorn", "httpx")}
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    for name, before in chatty.items():
        logging.getLogger(name).setLevel(before)


def said(
    capfd: pytest.CaptureFixture[str], level: str, style: Literal["text", "json"], logger: str = "app.x"
) -> list[str]:
    configure_logging(level, style)
    log = logging.getLogger(logger)
    log.debug("fine %d", 1)
    log.info("good")
    log.warning("bad")
    try:
        raise ValueError("inner")
    except ValueError:
        log.exception("worse\nand more")
    captured = capfd.readouterr()
    assert captured.out == ""
    return captured.err.splitlines()


def test_json_is_one_object_a_line(capfd: pytest.CaptureFixture[str]) -> None:
    records = [json.loads(line) for line in said(capfd, "debug", "json")]
    assert [record["level"] for record in records] == ["debug", "info", "warning", "error"]
    assert [record["message"] for record in records] == ["fine 1", "good", "bad", "worse\nand more"]
    assert {record["logger"] for record in records} == {"app.x"}
    assert all(re.fullmatch(STAMP, record["time"]) for record in records)
    assert records[3]["exception"].endswith("ValueError: inner")
    assert "exception" not in records[0]


def test_text_for_people(capfd: pytest.CaptureFixture[str]) -> None:
    first, *_ = said(capfd, "info", "text")
    assert re.fullmatch(rf"{STAMP} INFO    app\.x  good", first)


@pytest.mark.parametrize(("level", "count"), [("debug", 4), ("info", 3), ("warning", 2), ("error", 1)])
def test_what_is_below_the_level_is_left_out(
    capfd: pytest.CaptureFixture[str], level: str, count: int
) -> None:
    assert len(said(capfd, level, "json")) == count


def test_chatty_libraries_keep_to_warnings(capfd: pytest.CaptureFixture[str]) -> None:
    assert len(said(capfd, "info", "json", "uvicorn.error")) == 2
    assert len(said(capfd, "debug", "json", "uvicorn.error")) == 4
