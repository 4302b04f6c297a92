"""The processes that a test has the app start."""

from __future__ import annotations

import pytest

from app.child.process import ChildProcess


@pytest.fixture
def started(monkeypatch: pytest.MonkeyPatch) -> list[ChildProcess]:
    """Every process that is started."""
    processes: list[ChildProcess] = []
    start = ChildProcess.start

    async def remembered(*command: str) -> ChildProcess:
        processes.append(await start(*command))
        return processes[-1]

    monkeypatch.setattr(ChildProcess, "start", remembered)
    return processes
