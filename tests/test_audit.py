"""What a relay holds against what it should hold; events are signed by nostr-sdk."""

from __future__ import annotations

import json
from typing import Any

import pytest
from nostr_sdk import EventBuilder, Keys, Kind, Tag, Timestamp

from app.audit import Fault, Finding, Held, Newest, compare, examine, is_ours, newest_of
from app.verifier import verify
from tests.relays.events import signed_event

OURS, OLDER, THEIRS = Keys.generate(), Keys.generate(), Keys.generate()
KEYS = frozenset({OURS.public_key().to_hex(), OLDER.public_key().to_hex()})


def signed_deletion(keys: Keys, name: str, created_at: int) -> str:
    address = f"31250:{keys.public_key().to_hex()}:{name}"
    tags = [Tag.parse(["a", address]), Tag.parse(["k", "31250"])]
    builder = EventBuilder(Kind(5), "").tags(tags)
    return str(builder.custom_created_at(Timestamp.from_secs(created_at)).finalize(keys).as_json())


def hold(text: str, **changed: Any) -> Held:
    event = json.loads(text) | changed
    assert is_ours(event, KEYS)
    changed_text = json.dumps(event).encode()
    return examine(event, changed_text, verify(changed_text, KEYS), KEYS)


def score(name: str, points: int, created_at: int, keys: Keys = OURS) -> Held:
    return hold(signed_event(keys, name, points, created_at))


def newest(held: Held) -> Newest:
    return Newest(held.event_id, held.created_at)


def faults(findings: list[Finding]) -> list[tuple[str, str]]:
    return [(finding.fault.value, finding.name) for finding in findings]


def against(held: list[Held], wanted: dict[str, Held], *unknown: Held) -> list[Finding]:
    known = {one.event_id for one in (*held, *wanted.values())} - {one.event_id for one in unknown}
    return list(compare(held, {name: newest(one) for name, one in wanted.items()}, known))


def test_all_is_there() -> None:
    alice, bob = score("Alice", 72, 1000), score("bob", 10, 1000, OLDER)
    assert (alice.names, alice.signed, alice.reasons) == ({"alice"}, True, ())
    assert against([alice, bob], {"alice": alice, "bob": bob}) == []


def test_missing_and_stale() -> None:
    old, new, bob = score("alice", 1, 1000), score("alice", 2, 1001), score("bob", 3, 1000)
    found = against([old], {"alice": new, "bob": bob})
    assert faults(found) == [("stale", "alice"), ("missing", "bob")]
    assert [(one.held, one.newest) for one in found] == [(old, newest(new)), (None, newest(bob))]
    assert all(one.bad for one in found)


def test_an_old_version_beside_the_newest_is_information() -> None:
    old, new = score("alice", 1, 1000), score("alice", 2, 1001)
    (found,) = against([old, new], {"alice": new})
    assert (found.fault, found.held, found.bad) == (Fault.OLD_VERSION, old, False)


def test_of_one_second_the_lower_id_is_the_newest() -> None:
    low, high = sorted((score("alice", 1, 1000), score("alice", 2, 1000)))
    assert newest_of([high, low]) == newest_of([low, high]) == {"alice": newest(low)}
    assert faults(against([high], {"alice": low})) == [("stale", "alice")]
    assert faults(against([low], {"alice": high})) == []


def test_a_newer_one_of_the_store_came_while_the_relay_was_read() -> None:
    old, new = score("alice", 1, 1000), score("alice", 2, 1001)
    assert against([new], {"alice": old}) == []


@pytest.mark.parametrize(
    "changed", [{"content": '{"v":1,"username":"alice","score":120}'}, {"sig": "0" * 128}, {"id": "0" * 64}]
)
def test_forged(changed: dict[str, Any]) -> None:
    alice = score("alice", 72, 1000)
    forged = hold(signed_event(OURS, "alice", 119, 1001), **changed)
    found = against([forged, alice], {"alice": alice}, forged)
    assert faults(found) == [("forged", "alice")]
    assert found[0].reasons
    assert faults(against([forged], {"alice": alice}, forged)) == [("forged", "alice"), ("missing", "alice")]


def test_an_event_that_fails_an_earlier_check_may_be_forged_too() -> None:
    text = signed_event(OURS, "alice", 1, 1000, content='{"v":2}')
    assert hold(text).signed
    assert not hold(text, sig="0" * 128).signed
    assert not hold(text, tags=[["d", "alice"]]).signed


def test_unknown_whatever_it_says() -> None:
    alice = score("alice", 72, 1000)
    stolen = score("alice", 120, 1001)
    odd = hold(signed_event(OURS, "bob", 1, 1000, content='{"v":2}'))
    found = against([alice, stolen, odd], {"alice": alice}, stolen, odd)
    assert faults(found) == [("unknown", "alice"), ("unknown", "bob")]
    assert found[0].held == stolen
    assert found[1].reasons == odd.reasons != ()
    assert faults(against([stolen], {"alice": alice}, stolen)) == [("unknown", "alice")]


def test_what_is_not_of_the_key_is_nobodys_fault() -> None:
    for text in (signed_event(THEIRS, "alice", 1, 1000), signed_deletion(THEIRS, "alice", 1000)):
        assert not is_ours(json.loads(text), KEYS)
    note = EventBuilder(Kind(1), "hello").finalize(OURS).as_json()
    assert not is_ours(json.loads(note), KEYS)


def test_a_deletion_is_the_newest_of_its_names() -> None:
    alice = score("alice", 72, 1000)
    deletion = hold(signed_deletion(OURS, "alice", 1001))
    assert (deletion.names, deletion.signed) == ({"alice"}, True)
    wanted = {"alice": deletion}
    assert against([deletion], wanted) == []
    assert faults(against([alice, deletion], wanted)) == [("old-version", "alice")]
    assert faults(against([alice], wanted)) == [("stale", "alice")]
    assert faults(against([], wanted)) == [("missing", "alice")]
    again = score("alice", 1, 1002)
    assert against([again], {"alice": again}) == []
    assert faults(against([again, deletion], {"alice": again})) == [("old-version", "alice")]


def test_deletions_that_are_forged_or_unknown() -> None:
    alice = score("alice", 72, 1000)
    text = signed_deletion(OURS, "alice", 1001)
    stolen, forged = hold(text), hold(text, created_at=1002)
    assert faults(against([alice, stolen], {"alice": alice}, stolen)) == [("unknown", "alice")]
    assert faults(against([alice, forged], {"alice": alice}, forged)) == [("forged", "alice")]


def test_without_a_store_a_relay_is_held_to_the_newest_that_any_holds() -> None:
    old, new, bob = score("alice", 1, 1000), score("alice", 2, 1001), score("bob", 3, 1000)
    odd = hold(signed_event(OURS, "carla", 1, 1000, content='{"v":1,"username":"Karla","score":1}'))
    wanted = newest_of([old, new, bob, odd])
    assert wanted == {"alice": newest(new), "bob": newest(bob)}
    assert faults(list(compare([old, new, bob, odd], wanted, None))) == [
        ("invalid", "carla"),
        ("old-version", "alice"),
    ]
    assert faults(list(compare([old], wanted, None))) == [("stale", "alice"), ("missing", "bob")]


@pytest.mark.parametrize("tags", [None, 7, [7], [[]], [["d"]], [["d", 7]], [["e", "x"], ["d", 1]]])
def test_whatever_a_relay_sends_is_judged(tags: object) -> None:
    held = hold(signed_event(OURS, "alice", 1, 1000), tags=tags)
    assert (held.signed, held.names) == (False, {""})
