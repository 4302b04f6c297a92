from __future__ import annotations

import io
import json

from app.delivery.judge_main import packed, serve
from app.nostr.keys import SecretKey
from app.scores.score_event import sign_deletion, sign_score

SECRET = SecretKey.parse(f"{2:064x}")


def test_chunks_are_answered_in_order_until_the_input_ends() -> None:
    good = sign_score(SECRET, username="Zoë", score=72, created_at=1).to_json().encode()
    gone = sign_deletion(SECRET, d="zoë", created_at=2).to_json().encode()
    forged = good.replace(b"72", b"73")
    chunks = b"".join(
        packed(json.dumps([len(text) for text in texts]).encode()) + b"".join(texts)
        for texts in ([good, forged], [gone], [])
    )
    sink = io.BytesIO()
    serve(io.BytesIO(chunks), sink, frozenset({SECRET.pubkey}))
    answers = (b'[["Zo\xc3\xab",72],true]', b'[[["zo\xc3\xab"],[]]]', b"[]")
    assert sink.getvalue() == b"".join(len(text).to_bytes(4, "big") + text for text in answers)
