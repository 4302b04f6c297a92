"""An event whose every part is known: each part that is another is named."""

from __future__ import annotations

from dataclasses import replace

import pytest

from app.matches.signed_event import event_fault
from app.nostr.event import sign_event
from tests.matches.made import APP, PLAYER

TAGS = (("d", "one"), ("e", "two"))
EVENT = sign_event(APP, created_at=5, kind=78, tags=TAGS, content="said")


def fault(event, **wanted):
    parts = {"kind": 78, "signers": (APP.pubkey,), "tags": TAGS, "content": "said", **wanted}
    return event_fault(event, "event", **parts)


def test_nothing():
    assert fault(EVENT) is None
    assert fault(EVENT, signers={PLAYER.pubkey, APP.pubkey}, tags=[list(tag) for tag in TAGS]) is None
    assert fault(sign_event(APP, created_at=6, kind=78, tags=TAGS, content="said")) is None


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": 1}, "the event is of kind 1: it must be of kind 78"),
        ({"pubkey": "a" * 64}, f"the event is signed by {'a' * 64}, who may not sign it"),
        ({"tags": TAGS[:1]}, "the event has 1 tags: it must have d, e and no others"),
        ({"tags": TAGS[::-1]}, "the event's tag 1 is not d with the value 'one'"),
        ({"content": "x"}, "the event's content is not 'said'"),
        ({"created_at": 6}, "the event is not signed: the id is not the hash of the event"),
        ({"id": "0" * 64}, "the event is not signed: the id is not the hash of the event"),
        ({"sig": "0" * 128}, "the event is not signed: the signature is not this public key's"),
    ],
)
def test_a_part_that_is_another(change, message):
    assert fault(replace(EVENT, **change)).startswith(message)


def test_content_is_empty_unless_told_otherwise():
    empty = sign_event(APP, created_at=5, kind=78, tags=TAGS, content="")
    assert event_fault(empty, "event", kind=78, signers=(APP.pubkey,), tags=TAGS) is None
    assert event_fault(EVENT, "event", kind=78, signers=(APP.pubkey,), tags=TAGS) == (
        "the event's content is not ''"
    )
