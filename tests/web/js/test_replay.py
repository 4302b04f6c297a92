"""The page's replay says of every transcript, honest or tampered with, what Python's says."""

from __future__ import annotations

import json
import random

import orjson
import pytest

from app.matches.replay import verify_transcript
from app.matches.transcript import Forfeit
from app.nostr.event import InvalidEvent, parse_event, sign_event, verify_event
from app.scores.score_event import sign_score
from tests.matches.changes import at, leaves, put
from tests.matches.made import APP, NOW, PLAYER, made
from tests.matches.reference import canonical
from tests.vectors import load
from tests.web.js.node import run

VECTORS = load("match.json")
SHARED = (
    "id", "ok", "false_ply", "match", "player", "username", "level", "points", "forfeit", "score_event",
    "choices_checked",
)  # fmt: skip
REPLAY = """
const signed = new Set(given.signed.map((triple) => triple.join()));
const verify = (signature, digest, pubkey) => signed.has([signature, digest, pubkey].join());
return given.texts.map((text) => replay(text, given.keys, verify));
"""


def parsed(fields):
    try:
        return [parse_event(fields)]
    except InvalidEvent:
        return []


def signatures(text):
    """The good signatures in a text, whatever else is wrong with it: what the page's library would find."""
    events = parsed(text)
    try:
        content = orjson.loads(events[0].content)
        inner = [content[name] for name in ("commitment_event", "statement", "score_event")]
    except (IndexError, ValueError, KeyError, TypeError):
        inner = []
    events += [event for fields in inner for event in parsed(fields)]
    return [[event.sig, event.id, event.pubkey] for event in events if verify_event(event)]


def in_the_page(texts, keys=(APP.pubkey,)):
    given = {"texts": texts, "keys": list(keys), "signed": [s for text in texts for s in signatures(text)]}
    return run({"replay.js": "replay"}, REPLAY, given)


def assert_alike(texts, keys=(APP.pubkey,)):
    pages = in_the_page(texts, keys)
    for text, page in zip(texts, pages, strict=True):
        server = verify_transcript(text, keys, master=False).to_dict()
        assert {name: page[name] for name in SHARED} == {name: server[name] for name in SHARED}, page
        assert set(page) == set(server) - {"proved", "not_proved"}
        assert page["ok"] is not bool(page["reasons"])
    return pages


def test_the_vectors():
    pages = assert_alike([json.dumps(case["event"]) for case in VECTORS["matches"]])
    assert all(page["ok"] and page["choices_checked"] for page in pages)


def test_names_and_texts_of_every_kind():
    # What JSON must escape, what lower-cases oddly, what lies beyond 16 bits.
    names = ['a"b\\c', "\x1f\u2028\x7f", "ΣΊΣΥΦΟΣ", "İstanbul", "\U0001e900", "ẞ", "x" * 40]
    pages = assert_alike([made("gentle", username=name).event.to_json() for name in names])
    assert all(page["ok"] for page in pages)


def test_master_is_checked_but_for_its_choices():
    (page,) = assert_alike([made("master", plies=4).event.to_json()])
    assert (page["ok"], page["choices_checked"], page["level"]) == (True, False, "master")


def test_other_keys():
    texts = [made("gentle").event.to_json()]
    (page,) = assert_alike(texts, [PLAYER.pubkey])
    assert [reason.partition(" is signed by ")[0] for reason in page["reasons"]] == [
        "the transcript",
        "the commitment event",
        "the score event",
    ]
    (page,) = assert_alike(texts, [PLAYER.pubkey, APP.pubkey])
    assert page["ok"]


def others(old, chance):
    """Some values that are not `old`."""
    values = [None, True, 0, 1, 1.5, -1, "", "B1", "player", "computer", [], {}, [old], {"a": old}]
    if isinstance(old, str) and old:
        place = chance.randrange(len(old))
        values += [
            old + "0",
            old[1:],
            old.upper(),
            old[:place] + ("1" if old[place] != "1" else "2") + old[place + 1 :],
        ]
    elif isinstance(old, int):
        values += [old + 1, old - 1, float(old) + 0.5]
    return [value for value in values if type(value) is not type(old) or value != old]


@pytest.mark.parametrize("again", [False, True], ids=["as it was signed", "signed again"])
@pytest.mark.parametrize("plies", [40, 17])
def test_every_field_tampered_with(plies, again):
    event = made("sharp", plies=plies).event.to_dict()
    content = json.loads(event["content"])
    chance = random.Random(plies)
    texts = []
    for path in leaves(content):
        options = others(at(content, path), chance)
        for value in chance.sample(options, 4):
            changed = canonical(put(content, path, value))
            if again:
                signed = sign_event(APP, created_at=NOW, kind=30078, tags=event["tags"], content=changed)
                texts.append(signed.to_json())
            else:
                texts.append(json.dumps({**event, "content": changed}))
    pages = assert_alike(texts)
    assert len(pages) > 300
    if plies == 40 or not again:
        assert not any(page["ok"] for page in pages)


def test_how_a_hand_ended():
    """Each on its own: nothing else in these transcripts is false."""
    whole, short = made("gentle"), made("gentle", plies=12)
    points = short.transcript.points.player
    texts = [
        whole.changed(forfeit=Forfeit.EXPIRED, score_event=None).to_json(),
        short.changed(forfeit=None).to_json(),
        short.changed(score_event=sign_score(APP, username="alice", score=points, created_at=NOW)).to_json(),
    ]
    assert [page["reasons"] for page in assert_alike(texts)] == [
        ["a hand is forfeited if, and only if, it is not played to its end"],
        ["a hand is forfeited if, and only if, it is not played to its end"],
        ["a forfeited hand has no score event"],
    ]


def test_every_field_of_the_event_tampered_with():
    event = made("normal").event.to_dict()
    chance = random.Random(1)
    texts = [
        json.dumps(put(event, path, value))
        for path in leaves(event)
        for value in others(at(event, path), chance)
    ]
    texts += [json.dumps({key: value for key, value in event.items() if key != name}) for name in event]
    assert not any(page["ok"] for page in assert_alike(texts))


def test_texts_that_hold_no_transcript():
    good = made("normal").event
    content = json.loads(good.content)
    contents = [
        json.dumps(content),
        good.content + " ",
        canonical({**content, "more": 1}),
        canonical({key: value for key, value in content.items() if key != "salt"}),
        " " * 20_000,
        "[" * 16_000,
        "[]",
        "null",
        "",
    ]
    texts = ["", "x", "[]", "null", "1", "{}", '"x"', "[" * 100_000, good.content]
    texts += [
        sign_event(APP, created_at=NOW, kind=30078, tags=good.tags, content=text).to_json()
        for text in contents
    ]
    pages = assert_alike(texts)
    assert not any(page["ok"] for page in pages)
    assert all(len(page["reasons"]) == 1 for page in pages)


def test_a_signature_that_does_not_hold():
    """The page asks its library for each of the four, and believes it."""
    text = made("gentle").event.to_json()
    answer = run(
        {"replay.js": "replay"},
        """const asked = [];
        const none = replay(given.text, given.keys, (...triple) => { asked.push(triple); return false; });
        return [none.reasons, asked];""",
        {"text": text, "keys": [APP.pubkey]},
    )
    reasons, asked = answer
    assert [reason.partition(" is not signed")[0] for reason in reasons] == [
        "the transcript",
        "the commitment event",
        "the statement",
        "the score event",
    ]
    assert asked == signatures(text)
