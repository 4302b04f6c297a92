"""The page's canonical JSON against the package `rfc8785`, and what it says of malformed transcripts."""

from __future__ import annotations

import json

import rfc8785
from hypothesis import given, settings
from hypothesis import strategies as st

from app.nostr.event import sign_event
from tests.matches.changes import put
from tests.matches.made import APP, NOW, made
from tests.matches.reference import canonical
from tests.web.js.node import run

IMPORTS = {"transcript.js": "canonical, readTranscript"}
MADE = made("normal").event
CONTENT = json.loads(MADE.content)
READ = """return given.map((text) => {
  try { return readTranscript(text).transcript.match; } catch (error) { return String(error); }
});"""

texts = st.text(st.characters(exclude_categories=["Cs"]), max_size=8)
values = st.recursive(
    st.none() | st.booleans() | st.integers(-(2**53) + 1, 2**53 - 1) | texts,
    lambda inner: st.lists(inner, max_size=4) | st.dictionaries(texts, inner, max_size=4),
    max_leaves=20,
)


@settings(max_examples=5, deadline=None)
@given(st.lists(values, min_size=40, max_size=80))
def test_canonical_json(many):
    assert run(IMPORTS, "return given.map(canonical);", many) == [
        rfc8785.dumps(value).decode() for value in many
    ]


def signed(content, kind=30078):
    return sign_event(APP, created_at=NOW, kind=kind, tags=MADE.tags, content=content).to_json()


def test_what_is_malformed_is_named():
    cases = {
        MADE.to_json(): CONTENT["match"],
        "x": "it is not JSON",
        "[]": "it is not a JSON object",
        "{}": "the field id of the event is missing",
        " " * 70_000: "it is 70000 long: at most 65536 are read",
        signed(MADE.content, kind=78): "the event is of kind 78: a transcript is of kind 30078",
        signed("x" * 17_000): "the content has over 16384 characters",
        signed("{"): "the content is not JSON",
        signed("null"): "the content is not a JSON object",
        signed("{}"): "the field v of the transcript is missing",
        signed(
            json.dumps(CONTENT)
        ): "the content is not in the canonical form of RFC 8785, or holds more than it may",
        signed(canonical({**CONTENT, "zero": 0})): "the transcript has a field that is not known: zero",
        signed(canonical(put(CONTENT, ("salt",), "zz"))): "the field salt of the transcript is malformed",
        json.dumps(
            {**MADE.to_dict(), "content": json.dumps({**CONTENT, "username": "\ud800"})}
        ): "the field username of the transcript is malformed",
    }
    expected = [
        answer if answer == CONTENT["match"] else f"SyntaxError: {answer}" for answer in cases.values()
    ]
    assert run(IMPORTS, READ, list(cases)) == expected
