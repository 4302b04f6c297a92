from __future__ import annotations

import asyncio
import os
import signal
import sys
from contextlib import suppress
from pathlib import Path

import pytest

from app.child.process import ChildFailed, ChildProcess

ECHO = "tests.child.echo"


async def test_a_process_answers_in_order_and_is_gone_when_stopped() -> None:
    process = await ChildProcess.start(ECHO, "one", "two")
    process.send(b"")
    process.send(b"x" * 100_000)
    assert await process.receive() == b"one two:"
    assert await process.receive() == b"one two:" + b"x" * 100_000
    pid = process.pid
    await process.stop()
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    process.send(b"again")
    with pytest.raises(ChildFailed, match=r"tests\.child\.echo ended too soon"):
        await process.receive()


@pytest.mark.skipif(sys.platform != "linux", reason="reads /proc")
async def test_it_is_this_app_that_runs_and_it_is_told_no_secret(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "app").mkdir()
    (tmp_path / "app" / "__init__.py").write_text("raise SystemExit(7)")
    monkeypatch.chdir(tmp_path)
    monkeypatch.setenv("BRISCOLA_SECRET_KEY", "f" * 64)
    process = await ChildProcess.start(ECHO)
    process.send(b"here")
    assert await process.receive() == b":here"
    told = await asyncio.to_thread(Path(f"/proc/{process.pid}/environ").read_bytes)
    assert b"PYTHONPATH" in told
    assert b"BRISCOLA" not in told
    await process.stop()


@pytest.mark.skipif(sys.platform != "linux", reason="waits on a pidfd")
async def test_it_ends_with_its_parent() -> None:
    """However that ends: its input is closed."""
    program = (
        "import asyncio, sys\n"
        "from app.child.process import ChildProcess\n"
        "async def main():\n"
        "    print((await ChildProcess.start(sys.argv[1])).pid, flush=True)\n"
        "    await asyncio.sleep(1000)\n"
        "asyncio.run(main())\n"
    )
    parent = await asyncio.create_subprocess_exec(
        *(sys.executable, "-c", program, ECHO), stdout=asyncio.subprocess.PIPE
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


@pytest.mark.skipif(sys.platform == "win32", reason="stops a process")
async def test_nobody_waits_for_ever_for_one_that_is_stuck(monkeypatch: pytest.MonkeyPatch) -> None:
    process = await ChildProcess.start(ECHO)
    os.kill(process.pid, signal.SIGSTOP)
    monkeypatch.setattr("app.child.process.ANSWER_SECONDS", 0.0)
    process.send(b"here")
    with pytest.raises(ChildFailed, match=r"tests\.child\.echo did not answer within 0 s"):
        await process.receive()
    await process.stop()
    with pytest.raises(ProcessLookupError):
        os.kill(process.pid, 0)


async def test_no_process_to_be_had(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    with pytest.raises(ChildFailed, match="nowhere"):
        await ChildProcess.start(ECHO)
