from __future__ import annotations

import asyncio
import os
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from app.delivery.judge_process import JudgeFailed, JudgeProcess
from tests.delivery.records import FORGED, GOOD


async def test_a_process_proves_and_is_gone_when_stopped() -> None:
    process = await JudgeProcess.start()
    process.send([GOOD, FORGED])
    process.send([GOOD])
    assert await process.receive() == b"\1\0"
    assert await process.receive() == b"\1"
    pid = process.pid
    await process.stop()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    process.send([GOOD])
    with pytest.raises(JudgeFailed, match="ended too soon"):
        await process.receive()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
async def test_it_is_this_app_that_runs_and_it_is_told_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "__init__.py").write_text("raise SystemExit(7)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BRISCOLA_SECRET_KEY", "f" * 64)
    process = await JudgeProcess.start()
    process.send([GOOD])
    assert await process.receive() == b"\1"
    told = await asyncio.to_thread(Path(f"/proc/{process.pid}/environ").read_bytes)
    assert b"PYTHONPATH" in told
    assert b"BRISCOLA" not in told
    await process.stop()


@pytest.mark.skipif(sys.platform != "linux", reason="waits on a pidfd")
async def test_it_ends_with_its_parent() -> None:
    """However that ends: its input is closed."""
    program = (
        "import asyncio\n"
        "from app.delivery.judge_process import JudgeProcess\n"
        "async def main():\n"
        "    print((await JudgeProcess.start()).pid, flush=True)\n"
        "    await asyncio.sleep(1000)\n"
        "asyncio.run(main())\n"
    )
    parent = await asyncio.create_subprocess_exec(
        sys.executable, "-c", program, stdout=asyncio.subprocess.PIPE
    )
    assert parent.stdout is not None
    child = os.pidfd_open(int(await parent.stdout.readline()))
    try:
        ended = asyncio.get_running_loop().create_future()
        asyncio.get_running_loop().add_reader(child, lambda: ended.done() or ended.set_result(None))
        parent.kill()
        await parent.wait()
        await asyncio.wait_for(ended, 30)
    finally:
        asyncio.get_running_loop().remove_reader(child)
        os.close(child)
        with suppress(ProcessLookupError):
            parent.kill()


async def test_no_process_to_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    with pytest.raises(JudgeFailed, match="nowhere"):
        await JudgeProcess.start()
