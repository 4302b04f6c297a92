"""Commitment and statement as events: what each must say, and who must sign it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from app.matches.opening import (
    InvalidOpening,
    check_commitment,
    check_statement,
    sign_commitment,
    sign_statement,
)
from app.nostr.event import Event, sign_event
from app.nostr.keys import SecretKey
from tests.matches.made import APP, NOW, PLAYER, terms
from tests.vectors import load

COMMITTED = "c" * 64
COMMITMENT = sign_commitment(APP, terms=terms(), commitment=COMMITTED, created_at=NOW)
ANSWER = {
    "terms": terms(),
    "commitment_event": COMMITMENT.id,
    "commitment": COMMITTED,
    "client_seed": b"\3" * 32,
}
STATEMENT = sign_statement(PLAYER, **ANSWER, created_at=NOW)
STRANGER = SecretKey.parse(f"{7:064x}")


def committed(event: Event) -> None:
    check_commitment(event, terms=terms(), commitment=COMMITTED, app_keys={APP.pubkey, STRANGER.pubkey})


def stated(event: Event) -> None:
    check_statement(event, **ANSWER)


def test_as_another_reading_writes_them():
    for case in load("match.json")["matches"]:
        content = json.loads(case["event"]["content"])
        tags = content["commitment_event"]["tags"]
        assert [tag[0] for tag in tags] == ["d", "commitment", "variant", "level", "p", "username"]
        on = replace(terms(case["level"], case["username"]), match=case["match"], player=case["player"])
        ours = sign_commitment(APP, terms=on, commitment=case["commitment"], created_at=NOW)
        assert ours.id == content["commitment_event"]["id"]
        statement = sign_statement(
            PLAYER,
            terms=on,
            commitment_event=ours.id,
            commitment=case["commitment"],
            client_seed=bytes.fromhex(case["client_seed"]),
            created_at=NOW + 1,
        )
        assert statement.id == content["statement"]["id"]


def test_good_ones_pass():
    committed(COMMITMENT)
    committed(sign_commitment(STRANGER, terms=terms(), commitment=COMMITTED, created_at=0))
    stated(STATEMENT)


@pytest.mark.parametrize(
    ("change", "message"),
    [
        ({"kind": 1}, "is of kind 1: it must be of kind 78"),
        ({"pubkey": "a" * 64}, "is signed by a+, which is not"),
        ({"content": "x"}, "has content: it must be empty"),
        ({"created_at": NOW + 1}, "is not signed: the id is not the hash"),
        ({"id": "0" * 64}, "is not signed: the id is not the hash"),
        ({"sig": "0" * 128}, "is not signed: the signature is not"),
    ],
)
def test_a_part_that_is_changed(change, message):
    for check, event, name in [(committed, COMMITMENT, "commitment event"), (stated, STATEMENT, "statement")]:
        with pytest.raises(InvalidOpening, match=f"the {name} {message}"):
            check(replace(event, **change))


@pytest.mark.parametrize("check", [committed, stated])
def test_a_tag_that_is_changed_and_signed_again(check):
    good, secret = (COMMITMENT, APP) if check is committed else (STATEMENT, PLAYER)

    def again(tags):
        return sign_event(secret, created_at=NOW, kind=78, tags=tags, content="")

    check(again(good.tags))
    for at, (name, value) in enumerate(good.tags):
        for tag in ([name, value + "0"], [name, value, ""], [name], ["x", value]):
            with pytest.raises(InvalidOpening, match=f"the tag {name} is not '{value}'"):
                check(again([*good.tags[:at], tag, *good.tags[at + 1 :]]))
    for tags in (good.tags[:-1], [*good.tags, ["nonce", "1"]], []):
        with pytest.raises(InvalidOpening, match="there are other tags or fewer"):
            check(again(tags))
    with pytest.raises(InvalidOpening, match="other tags than"):
        check(again(good.tags[::-1]))


def test_another_key_than_the_players_cannot_state():
    with pytest.raises(InvalidOpening, match="which is not the player's key"):
        stated(sign_statement(STRANGER, **ANSWER, created_at=NOW))
