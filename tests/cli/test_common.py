"""What commands share."""

from __future__ import annotations

import asyncio

import pytest

from app.cli.common import load_settings, run_loop
from app.cli.unusable import Unusable
from app.config import Settings, StoreSettings
from tests.service import SECRET


def test_faults_end_a_command_with_each_on_a_line() -> None:
    with pytest.raises(Unusable) as caught:
        load_settings(Settings, {"BRISCOLA_SECRET_KEY": "ab", "BRISCOLA_LOG_LEVEL": "loud"})
    assert caught.value.exit_code == 2
    head, *lines = caught.value.message.splitlines()
    assert head == "the settings cannot be used:"
    assert sorted(line.split(":")[0].strip() for line in lines) == [
        "BRISCOLA_LOG_LEVEL",
        "BRISCOLA_SECRET_KEY",
    ]


def test_warnings_go_to_stderr(capsys: pytest.CaptureFixture[str]) -> None:
    load_settings(StoreSettings, {"BRISCOLA_SECRET_KEY": SECRET, "BRISCOLA_TYPO": SECRET})
    captured = capsys.readouterr()
    assert captured.out == ""
    assert captured.err == "Warning: BRISCOLA_TYPO: unknown setting, ignored\n"


def test_a_coroutine_is_run_to_its_end() -> None:
    async def main() -> int:
        await asyncio.sleep(0)
        return 7

    assert run_loop(main()) == 7
