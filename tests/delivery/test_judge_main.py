from __future__ import annotations

from app.child.process import ChildProcess
from app.delivery.judge_main import answer, question
from app.nostr.keys import SecretKey
from app.scores.score_event import sign_deletion, sign_score

SECRET = SecretKey.parse(f"{2:064x}")
GOOD = sign_score(SECRET, username="Zoë", score=72, created_at=1).to_json().encode()


def test_a_chunk_is_answered_in_order() -> None:
    gone = sign_deletion(SECRET, d="zoë", created_at=2).to_json().encode()
    forged = GOOD.replace(b"72", b"73")
    keys = frozenset({SECRET.pubkey})
    assert answer(question([GOOD, forged]), keys) == b'[["Zo\xc3\xab",72],true]'
    assert answer(question([gone]), keys) == b'[[["zo\xc3\xab"],[]]]'
    assert answer(question([]), keys) == b"[]"


async def test_a_process_answers_alike() -> None:
    process = await ChildProcess.start("app.delivery.judge_main", SECRET.pubkey)
    process.send(question([GOOD, GOOD.replace(b"72", b"73")]))
    process.send(question([b"{"]))
    assert await process.receive() == b'[["Zo\xc3\xab",72],true]'
    assert await process.receive() == b"[true]"
    await process.stop()
