from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st
from nostr_sdk import Event as SdkEvent

from app.nostr.keys import SecretKey
from app.nostr.nip42 import auth_event

SECRET = SecretKey.generate()


@given(st.text(st.characters(exclude_categories=["Cs"])))
def test_the_answer_to_a_challenge(challenge: str) -> None:
    event = auth_event(SECRET, relay="wss://relay.example", challenge=challenge, created_at=1700000000)
    document = json.loads(event.to_json())
    assert SdkEvent.from_json(json.dumps(document)).verify()
    assert document["kind"] == 22242
    assert document["pubkey"] == SECRET.pubkey
    assert document["created_at"] == 1700000000
    assert document["tags"] == [["relay", "wss://relay.example"], ["challenge", challenge]]
    assert document["content"] == ""
