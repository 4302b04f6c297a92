"""The form of a transcript: what is written, what is read back, what is refused and why."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.matches.transcript import (
    MAX_CONTENT,
    MAX_TEXT,
    Forfeit,
    InvalidTranscript,
    parse_transcript,
    read_transcript,
    sign_transcript,
)
from app.nostr.event import sign_event
from tests.matches.changes import at, leaves, others, put
from tests.matches.made import APP, NOW, made
from tests.matches.reference import canonical
from tests.vectors import load

VECTORS = load("match.json")["matches"]
MADE = made()
CONTENT = json.loads(MADE.transcript.canonical())


@pytest.mark.parametrize("case", VECTORS, ids=lambda case: f"{case['level']}-{case['match'][:6]}")
def test_the_transcripts_of_another_reading(case):
    for source in (case["event"], json.dumps(case["event"]), json.dumps(case["event"], indent=1).encode()):
        event, transcript = read_transcript(source)
        assert event.to_dict() == case["event"]
        assert transcript.canonical() == case["event"]["content"]
        assert (transcript.terms.username, transcript.commitment) == (case["username"], case["commitment"])
        assert [[side, str(card)] for side, card in transcript.plays] == case["plays"]
        assert (list(transcript.points), transcript.forfeit) == (case["points"], case["forfeit"])
    again = sign_transcript(APP, transcript, event.created_at)
    assert again.id == case["event"]["id"]


def test_tags_name_the_match_and_the_score():
    assert MADE.event.tags == (("d", MADE.transcript.terms.match), ("e", MADE.transcript.score_event.id))
    assert made(plies=3).event.tags == (("d", MADE.transcript.terms.match),)


def test_a_repr_shows_no_seed():
    assert MADE.transcript.secrets.server_seed.hex() not in repr(MADE.transcript)


@pytest.mark.parametrize(
    ("path", "value", "message"),
    [
        (("v",), 2, "v is 2: only version 1 is known"),
        (("v",), True, "v is true: only version 1 is known"),
        (("variant",), "chiamata", "variant is 'chiamata': it must be two-player"),
        (("level",), "brutal", "no level 'brutal'"),
        (("match",), "0" * 33, "is not 32 lower-case hex digits"),
        (("username",), 7, "username is 7: it must be a text"),
        (("username",), "", "username is empty"),
        (("username",), "\ud800", "it has no canonical form: input contains non-UTF-8"),
        (("salt",), "A" * 64, "salt is not 64 lower-case hex digits"),
        (("salt",), "ab " * 21 + "a", "salt is not 64 lower-case hex digits"),
        (("client_seed",), "zz", "client_seed is not 64"),
        (("statement",), None, "statement is null: it must be an event"),
        (("statement", "sig"), "0", "statement: sig is not 128 lower-case hex digits"),
        (("score_event", "tags"), [[]], "score_event: a tag is empty"),
        (("commitment_event", "created_at"), 1.0, "not in the canonical form"),
        (("commitment_event", "x"), 1, "not in the canonical form"),
        (("plays",), {}, "plays is no list of at most 40"),
        (("plays",), [["player", "B1"]] * 41, "plays is no list of at most 40"),
        (("plays", 0), ["nobody", "B1"], "ply 1 is not like"),
        (("plays", 3), "B1", "ply 4 is not like"),
        (("plays", 3, 1), "B11", "ply 4: no such card: 'B11'"),
        (("points",), [60, 60], "points is not like"),
        (("points", "player"), True, "points is not like"),
        (("points", "player"), 2**53, "it has no canonical form: 9007199254740992 exceeds"),
        (("points", "player"), 60.0, "points is not like"),
        (("forfeit",), "lost", "forfeit is 'lost': it must be null, resigned or expired"),
        (("forfeit",), [], "forfeit is a list"),
        (("more",), 1, "fields are missing or not known: 'more'"),
    ],
)
def test_what_is_malformed_is_named(path, value, message):
    with pytest.raises(InvalidTranscript, match=message):
        parse_transcript(
            json.dumps(put(CONTENT, path, value), ensure_ascii=True, sort_keys=True, separators=(",", ":"))
        )


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("", "no JSON"),
        ("{", "no JSON"),
        ("[]", "is not a JSON object"),
        ("{}", "missing or not known: 'client_seed', 'commitment'"),
        (json.dumps(CONTENT), "not in the canonical form"),
        (MADE.transcript.canonical() + "\n", "not in the canonical form"),
        (MADE.transcript.canonical()[:-1] + ',"v":1}', "not in the canonical form"),
        (" " * (MAX_CONTENT + 1), "at most 16384 are read"),
        ("[" * MAX_CONTENT, "no JSON"),
    ],
)
def test_content_that_is_none(content, message):
    with pytest.raises(InvalidTranscript, match=message):
        parse_transcript(content)
    event = sign_event(APP, created_at=NOW, kind=30078, tags=MADE.transcript.tags, content=content)
    with pytest.raises(InvalidTranscript, match=message):
        read_transcript(event.to_json())


@pytest.mark.parametrize(
    ("source", "message"),
    [
        ("", "it is no Nostr event"),
        ("[1]", "it is no Nostr event"),
        (b"\xff", "it is no Nostr event"),
        (MADE.transcript.canonical(), "it is no Nostr event: id is missing"),
        (MADE.transcript.score_event.to_json(), "of kind 31250: a transcript is of kind 30078"),
        (" " * (MAX_TEXT + 1), "at most 65536 characters"),
        (b" " * (MAX_TEXT + 1), "at most 65536 characters"),
        (MADE.event.to_json().replace("{", '{"kind":30078,', 1), "the key 'kind' occurs twice"),
        (None, "this is of type NoneType"),
    ],
)
def test_what_holds_no_transcript(source, message):
    with pytest.raises(InvalidTranscript, match=message):
        read_transcript(source)


@given(st.data())
def test_reading_is_the_inverse_of_writing_or_refuses(data):
    path = data.draw(st.sampled_from(list(leaves(CONTENT))))
    content = canonical(put(CONTENT, path, data.draw(others(at(CONTENT, path)))))
    try:
        transcript = parse_transcript(content)
    except InvalidTranscript:
        return
    assert transcript.canonical() == content


def test_the_longest_honest_transcript_is_read():
    # 32 of the widest characters that a name can have: four bytes of UTF-8 each.
    wide = made(username="\U0001e900" * 32)
    assert len(wide.event.to_json()) < MAX_TEXT
    assert read_transcript(wide.event.to_json())[1] == wide.transcript


def test_both_ways_to_give_up():
    for forfeit in Forfeit:
        transcript = replace(made(plies=5).transcript, forfeit=forfeit)
        assert parse_transcript(transcript.canonical()) == transcript
