"""Logging: one line a record on stderr."""

from __future__ import annotations

import json
import logging
import re
from typing import TYPE_CHECKING, Literal

import pytest

from app.log import configure_logging
from tests.relays.fake import FakeRelay, ok
from tests.service import PUBKEY, running

if TYPE_CHECKING:
    from collections.abc import Iterator
    from pathlib import Path

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


def test_what_a_record_is_about_is_a_field_of_its_own(capfd: pytest.CaptureFixture[str]) -> None:
    configure_logging("info", "json")
    logging.getLogger("app.x").info(
        "about all", extra={"relay": "r", "event": "e", "address": "a", "key": "k"}
    )
    logging.getLogger("app.x").info("about one", extra={"relay": "r"})
    both, one = map(json.loads, capfd.readouterr().err.splitlines())
    assert (both["relay"], both["event"], both["address"]) == ("r", "e", "a")
    assert one["relay"] == "r"
    assert set(one) == {"time", "level", "logger", "message", "relay"}
    assert set(both) == set(one) | {"event", "address"}


async def test_delivery_says_which_relay_event_and_address(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    caplog.set_level(logging.INFO)
    async with (
        FakeRelay(on_event=ok(False, "blocked: no")) as blocking,
        FakeRelay(on_event=ok(False, "replaced: mine is newer")) as replacing,
        running(tmp_path, blocking.url, replacing.url) as service,
    ):
        posted = (await service.post("Alice", 72, Prefer="wait=10")).json()
    about = {
        (getattr(record, "relay", None), getattr(record, "event", None), getattr(record, "address", None))
        for record in caplog.records
        if record.name.startswith("app.delivery")
    }
    event = (posted["event"]["id"], f"31250:{PUBKEY}:alice")
    assert about >= {(relay.url, *rest) for relay in (blocking, replacing) for rest in ((None, None), event)}
    for record in caplog.records:
        message = record.getMessage()
        assert (posted["event"]["id"] in message) == hasattr(record, "event"), message
        assert ("ws://127.0.0.1" in message) == hasattr(record, "relay"), message
