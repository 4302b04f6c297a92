"""The encodings against vectors made by another reading, and what is refused."""

from __future__ import annotations

import hashlib
from dataclasses import replace

import pytest

from app.briscola.shuffle import shuffled_deck
from app.matches.commitment import (
    InvalidTerms,
    Secrets,
    Terms,
    commitment,
    deck_seed,
    new_match_id,
    play_seed,
)
from tests.matches.made import terms
from tests.vectors import load

VECTORS = load("match.json")["matches"]


@pytest.mark.parametrize("case", VECTORS, ids=lambda case: f"{case['level']}-{case['match'][:6]}")
def test_every_hash(case):
    on = Terms(*(case[name] for name in ("match", "player", "username", "level")))
    hidden = Secrets(bytes.fromhex(case["server_seed"]), bytes.fromhex(case["salt"]))
    seeds = (on.match, hidden.server_seed, bytes.fromhex(case["client_seed"]))
    assert commitment(on, hidden) == case["commitment"]
    assert deck_seed(*seeds).hex() == case["deck_seed"]
    assert play_seed(*seeds).hex() == case["play_seed"]
    assert [str(card) for card in shuffled_deck(deck_seed(*seeds))] == case["deck"]


def test_the_bytes_that_are_hashed():
    # Written out by hand: lengths 17, 32, 64, 6, 32, 32 before the fields.
    on = Terms("0" * 32, "a" * 64, "alice", "gentle")
    written = (
        b"\x00\x11briscola/1/commit"
        + b"\x00\x20" + b"0" * 32
        + b"\x00\x40" + b"a" * 64
        + b"\x00\x06gentle"
        + b"\x00\x20" + b"\x05" * 32
        + b"\x00\x20" + b"\x06" * 32
    )  # fmt: skip
    assert commitment(on, Secrets(b"\5" * 32, b"\6" * 32)) == hashlib.sha256(written).hexdigest()


def test_nothing_that_is_hidden_can_be_read_from_a_text_of_it():
    hidden = Secrets(b"\5" * 32, b"\6" * 32)
    assert repr(hidden) == str(hidden) == "Secrets()"


def test_fresh_ones_differ():
    assert len({new_match_id() for _ in range(3)}) == 3
    assert len({seed for _ in range(3) for seed in _both(Secrets.generate())}) == 6
    assert replace(terms(), match=new_match_id()).match != terms().match


def _both(hidden):
    return hidden.server_seed, hidden.salt


@pytest.mark.parametrize(
    ("fields", "message"),
    [
        ({"match": "0" * 31}, "match id '0+' is not 32 lower-case hex digits"),
        ({"match": "A" * 32}, "match id"),
        ({"match": "0" * 32 + "\n"}, "match id"),
        ({"player": "npub1xyz"}, "player 'npub1xyz' is not 64 lower-case hex digits"),
        ({"username": ""}, "username is empty"),
        ({"level": "brutal"}, "no level 'brutal': there are gentle, normal, sharp, master"),
    ],
)
def test_terms_that_are_none(fields, message):
    with pytest.raises(InvalidTerms, match=message):
        replace(terms(), **fields)


@pytest.mark.parametrize("length", [0, 31, 33])
def test_seeds_of_another_length(length):
    good, bad = bytes(32), bytes(length)
    for make, name in [
        (lambda: Secrets(bad, good), "server seed"),
        (lambda: Secrets(good, bad), "salt"),
        (lambda: deck_seed("0" * 32, bad, good), "server seed"),
        (lambda: play_seed("0" * 32, good, bad), "client seed"),
    ]:
        with pytest.raises(ValueError, match=f"the {name} has {length} bytes: give 32"):
            make()
