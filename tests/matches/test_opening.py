"""Commitment and statement as events: what each must say, and who must sign it."""

from __future__ import annotations

import json
from dataclasses import replace

import pytest

from app.matches.opening import (
    commitment_fault,
    sign_commitment,
    sign_statement,
    statement_fault,
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


def committed(event: Event) -> str | None:
    keys = {APP.pubkey, STRANGER.pubkey}
    return commitment_fault(event, terms=terms(), commitment=COMMITTED, app_keys=keys)


def stated(event: Event) -> str | None:
    return statement_fault(event, **ANSWER)


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
    assert committed(COMMITMENT) is None
    assert committed(sign_commitment(STRANGER, terms=terms(), commitment=COMMITTED, created_at=0)) is None
    assert stated(STATEMENT) is None


@pytest.mark.parametrize("fault_in", [committed, stated])
def test_a_tag_that_is_changed_and_signed_again(fault_in):
    good, secret = (COMMITMENT, APP) if fault_in is committed else (STATEMENT, PLAYER)

    def again(tags):
        return fault_in(sign_event(secret, created_at=NOW, kind=78, tags=tags, content=""))

    assert again(good.tags) is None
    for at, (name, value) in enumerate(good.tags):
        for tag in ([name, value + "0"], [name, value, ""], [name], ["x", value]):
            fault = again([*good.tags[:at], tag, *good.tags[at + 1 :]])
            assert fault.endswith(f"'s tag {at + 1} is not {name} with the value '{value}'")
    for tags in (good.tags[:-1], [*good.tags, ["nonce", "1"]], []):
        assert f"has {len(tags)} tags: it must have d, " in again(tags)
    assert "tag 1 is not d" in again(good.tags[::-1])


def test_each_has_its_signer():
    assert stated(sign_statement(STRANGER, **ANSWER, created_at=NOW)) == (
        f"the statement is signed by {STRANGER.pubkey}, who may not sign it"
    )
    by_player = sign_commitment(PLAYER, terms=terms(), commitment=COMMITTED, created_at=NOW)
    assert committed(by_player) == f"the commitment event is signed by {PLAYER.pubkey}, who may not sign it"
