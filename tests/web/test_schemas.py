"""The body of a score, against an oracle that reads it as the standard library does."""

from __future__ import annotations

import json

from hypothesis import given
from hypothesis import strategies as st

from app.scores.score import Claim
from app.scores.username import InvalidUsername, check_username
from app.web.body import parse_body
from app.web.problems import Problem
from app.web.schemas import ScoreBody

KEYS = st.sampled_from(["username", "score", "room", "Score", "us\\u0065rname", 's"', ""])
VALUES = st.one_of(
    st.sampled_from(["alice", "Zoë", "a b", "", 'al"ice', "a\\b", "\U0001f0cf"]),
    st.integers(-2, 123),
    st.sampled_from([True, False, None, 72.5, 72.0, 1e300, [], {}, [72], {"a": 1}, 10**40]),
)
SPACES = st.text(" \n\t", max_size=2)


def quoted(key: str) -> str:
    return f'"{key}"' if "\\u" in key else json.dumps(key)


@st.composite
def bodies(draw: st.DrawFn) -> str:
    """An object of a few members, some of them twice, with white space and either way to write a text."""
    members = draw(st.lists(st.tuples(KEYS, VALUES, st.booleans()), max_size=4))
    if draw(st.booleans()):
        score, ascii_only = draw(st.integers(0, 120)), draw(st.booleans())
        members = [("username", "alice", ascii_only), ("score", score, ascii_only), *members[:1]]
    parts = [
        f"{draw(SPACES)}{quoted(key)}{draw(SPACES)}:{draw(SPACES)}{json.dumps(value, ensure_ascii=plain)}"
        for key, value, plain in members
    ]
    return "{" + ",".join(parts) + draw(SPACES) + "}"


def oracle(text: str) -> Claim | str:
    """The claim, or the slug of the problem."""
    pairs: list[tuple[str, object]] = []

    def keep(found: list[tuple[str, object]]) -> dict[str, object]:
        pairs[:] = found  # called for the outermost object last
        return dict(found)

    document = json.loads(text, object_pairs_hook=keep)
    if len(dict(pairs)) != len(pairs):
        return "malformed-body"
    username, score = document.get("username"), document.get("score")
    whole = type(score) is int and 0 <= score <= 120
    if document.keys() != {"username", "score"} or not whole or not isinstance(username, str):
        return "invalid-score"
    try:
        return Claim(check_username(username), score)
    except InvalidUsername:
        return "invalid-score"


@given(bodies())
def test_a_body_is_read_as_the_oracle_reads_it(text: str) -> None:
    try:
        outcome: Claim | str = parse_body(ScoreBody, text.encode(), slug="invalid-score").claim()
    except Problem as problem:
        outcome = problem.slug
    assert outcome == oracle(text)


@given(st.binary(max_size=200))
def test_no_bytes_raise_anything_but_a_problem(raw: bytes) -> None:
    try:
        parse_body(ScoreBody, raw, slug="invalid-score")
    except Problem as problem:
        assert problem.slug in {"malformed-body", "invalid-score"}
