"""The computer's answers: what each level takes for them, and that master thinks once about one thing."""

from __future__ import annotations

import asyncio
import logging
from typing import TYPE_CHECKING

import pytest
import pytest_asyncio

from app import thinking
from app.child.process import ChildProcess
from app.matches.commitment import Terms
from app.matches.match import Match
from app.thinking import MASTER_SECONDS, Thinking, TooManyThinking

if TYPE_CHECKING:
    from collections.abc import AsyncIterator

ID = "0" * 32


def led(level: str, place: int = 0) -> Match:
    """A hand in which the player has led a card, and the computer is to answer."""
    hand = Match.deal(Terms(ID, "5" * 64, "alice", level), b"\1" * 32, b"\2" * 32)
    return hand.play(1, hand.observation.hand[place])


@pytest_asyncio.fixture(name="computer")
async def computer_fixture() -> AsyncIterator[Thinking]:
    computer = Thinking()
    yield computer
    await computer.close()


@pytest.fixture
def thoughts(monkeypatch: pytest.MonkeyPatch) -> list[bytes]:
    """What a process was told to think about."""
    told: list[bytes] = []
    send = ChildProcess.send

    def noted(process: ChildProcess, message: bytes) -> None:
        told.append(message)
        send(process, message)

    monkeypatch.setattr(ChildProcess, "send", noted)
    return told


@pytest.mark.parametrize("level", ["gentle", "normal", "sharp"])
async def test_exact_levels_answer_at_once(computer: Thinking, thoughts: list[bytes], level: str) -> None:
    answer = computer.answer(led(level))
    with pytest.raises(StopIteration) as ended:
        answer.send(None)  # without a turn of the loop
    assert ended.value.value == led(level).reply()
    assert thoughts == []


async def test_master_thinks_in_its_process_and_never_answers_at_once(
    computer: Thinking, thoughts: list[bytes]
) -> None:
    loop = asyncio.get_running_loop()
    began = loop.time()
    after = await computer.answer(led("master"))
    assert loop.time() - began >= MASTER_SECONDS
    assert after.plays[:1] == led("master").plays
    assert after == led("master").reply()
    assert len(thoughts) == 1


async def test_what_is_asked_many_times_is_thought_about_once(
    computer: Thinking, thoughts: list[bytes]
) -> None:
    answers = await asyncio.gather(*(computer.answer(led("master")) for _ in range(50)))
    assert len(thoughts) == 1
    assert len(set(map(id, answers))) == 1
    await computer.answer(led("master"))
    assert len(thoughts) == 2  # nothing is kept of what is answered


async def test_who_stops_waiting_takes_the_answer_from_nobody(computer: Thinking) -> None:
    first, second = (asyncio.create_task(computer.answer(led("master"))) for _ in range(2))
    await asyncio.sleep(0)
    first.cancel()
    assert await second == led("master").reply()


async def test_too_many_are_refused_and_then_no_more(
    computer: Thinking, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(thinking, "MAX_THINKING", 2)
    waiting = [asyncio.create_task(computer.answer(led("master", place))) for place in (0, 1)]
    await asyncio.sleep(0)
    with pytest.raises(TooManyThinking):
        await computer.answer(led("master", 2))
    again = asyncio.create_task(computer.answer(led("master", 0)))  # which is thought about already
    await asyncio.gather(*waiting, again)
    assert (await computer.answer(led("master", 2))).plays


async def test_no_play_is_lost_without_a_process(
    computer: Thinking, monkeypatch: pytest.MonkeyPatch, caplog: pytest.LogCaptureFixture
) -> None:
    monkeypatch.setattr("sys.executable", "/nowhere/python")
    hands = [led("master", place) for place in range(3)]
    with caplog.at_level(logging.WARNING):
        answers = await asyncio.gather(*map(computer.answer, hands))
    assert answers == [hand.reply() for hand in hands]
    assert "app.thinking_main" in caplog.text
    assert not any(hand.play_seed.hex() in caplog.text for hand in hands)
