from __future__ import annotations

import asyncio
import logging

import pytest

from app.delivery import forever as module
from app.delivery.forever import forever


async def test_a_fault_is_logged_and_work_goes_on(
    caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(module, "AGAIN_SECONDS", 0.0)
    runs, again = 0, asyncio.Event()

    async def run() -> None:
        nonlocal runs
        runs += 1
        if runs == 1:
            raise ValueError("a fault of ours")
        again.set()
        await asyncio.Event().wait()

    task = asyncio.create_task(forever(run, "digging", logging.getLogger("garden")))
    await again.wait()
    task.cancel()
    with pytest.raises(asyncio.CancelledError):
        await task
    (record,) = caplog.records
    assert (record.name, record.getMessage()) == ("garden", "digging failed; starting again")
    assert record.exc_info is not None
    assert str(record.exc_info[1]) == "a fault of ours"
