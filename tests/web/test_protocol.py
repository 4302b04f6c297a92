"""GET /v1/protocol is the page of seed 000, with this service's keys and relays in it."""

from __future__ import annotations

from typing import TYPE_CHECKING

from tests.service import NOWHERE, PUBKEY, running, settings

if TYPE_CHECKING:
    from pathlib import Path

SEED_PUBKEY = "79be667ef9dcbbac55a06295ce870b07029bfcdb2dce28d959f2815b16f81798"


async def test_the_document_is_the_seeds_protocol(tmp_path: Path) -> None:
    keys = {"SECRET_KEY": f"{1:064x}", "ALLOW_INSECURE_KEY": "1"}
    async with running(tmp_path, "https://nostr.relay.hedwig.sh", **keys) as service:
        answer = await service.http.get("/v1/protocol")
    assert answer.status_code == 200
    assert answer.headers["content-type"] == "application/json"
    document = answer.json()
    (warning,) = document.pop("warnings")
    assert SEED_PUBKEY in warning
    assert "prove nothing" in warning
    assert document == {
        "kind": 31250,
        "nips": [1, 9, 33],
        "app_tag": "briscola-score",
        "pubkey": SEED_PUBKEY,
        # NIP-19 of the generator, as any encoder prints it
        "npub": "npub10xlxvlhemja6c4dqv22uapctqupfhlxm9h8z3k2e72q4k9hcz7vqpkge6d",
        "public_keys": [SEED_PUBKEY],
        "relays": ["wss://nostr.relay.hedwig.sh"],
        "policy": "latest",
        "example": {
            "tags": [["d", "alice"], ["app", "briscola-score"], ["username", "alice"], ["score", "72"]],
            "content": '{"v":1,"username":"alice","score":72}',
        },
        "checks": ["kind", "pubkey", "app", "signature", "content"],
        "filter": {"kinds": [31250], "authors": [SEED_PUBKEY]},
        "documented_filter": {
            "kinds": [31250],
            "authors": [SEED_PUBKEY],
            "#app": ["briscola-score"],
            "limit": 50,
        },
    }


async def test_older_keys_are_shown_beside_the_one_that_signs(tmp_path: Path) -> None:
    older = {"PUBLIC_KEYS": f"{SEED_PUBKEY},{PUBKEY}", "SCORE_POLICY": "best"}
    async with running(tmp_path, **older) as service:
        document = (await service.http.get("/v1/protocol")).json()
    assert document["pubkey"] == PUBKEY
    assert document["policy"] == "best"
    assert document["relays"] == [NOWHERE]
    assert sorted(document["public_keys"]) == sorted([SEED_PUBKEY, PUBKEY])
    assert document["filter"]["authors"] == document["public_keys"]
    assert len(document["warnings"]) == 1, (
        "scores under an older key that everybody knows prove nothing either"
    )


async def test_a_key_of_ones_own_gives_no_warning(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        assert (await service.http.get("/v1/protocol")).json()["warnings"] == []


async def test_the_secret_is_nowhere_in_it(tmp_path: Path) -> None:
    async with running(tmp_path) as service:
        text = (await service.http.get("/v1/protocol")).text
    assert settings(tmp_path / "x.db").secret_key.to_hex() not in text
    assert "nsec" not in text
