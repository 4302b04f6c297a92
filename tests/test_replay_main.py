from __future__ import annotations

import json

import pytest

from app.child.process import ChildProcess
from app.matches.match import Points
from app.matches.replay import verify_transcript
from app.replay_main import answer
from tests.matches.made import APP, made


@pytest.mark.parametrize("username", ["alice", "Zoë"])
def test_the_verdict_is_that_of_the_replay(username: str) -> None:
    event = made("master", username=username).event.to_json().encode()
    verdict = json.loads(answer(event, frozenset({APP.pubkey})))
    assert verdict == verify_transcript(event, APP.pubkey).to_dict()
    assert (verdict["ok"], verdict["choices_checked"]) == (True, True)


async def test_a_process_answers_alike() -> None:
    event = made("master").changed(points=Points(0, 120)).to_json().encode()
    process = await ChildProcess.start("app.replay_main", APP.pubkey)
    process.send(event)
    assert await process.receive() == answer(event, frozenset({APP.pubkey}))
    await process.stop()
