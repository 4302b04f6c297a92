from __future__ import annotations

from app.child.process import ChildProcess
from app.delivery.judge_main import answer
from tests.delivery.records import FORGED, GOOD


def test_records_are_answered_in_order() -> None:
    assert answer(GOOD + FORGED) == b"\1\0"
    assert answer(GOOD) == b"\1"
    assert answer(b"") == b""


async def test_a_process_answers_alike() -> None:
    process = await ChildProcess.start("app.delivery.judge_main")
    process.send(GOOD + FORGED + GOOD)
    process.send(FORGED)
    assert await process.receive() == b"\1\0\1"
    assert await process.receive() == b"\0"
    await process.stop()
