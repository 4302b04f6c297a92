from __future__ import annotations

import base64
import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from app.nostr.event import verify_event
from app.nostr.keys import SecretKey
from app.nostr.nip98 import InvalidToken, check_call, check_payload, payload_hash, read_token, sign_call
from tests.nostr.tokens import ALICE, BOB, call_tags, encoded, pubkey_of, sha256, signed
from tests.vectors import load

URL = "https://scores.example/v1/scores"
BODY = b'{"username":"alice","score":72}'
NOW = 1_700_000_000
VECTORS = load("nip98_tokens.json")


def judge(token: str, *, method: str = "POST", url: str = URL, body: bytes = BODY, now: float = NOW) -> str:
    event = read_token(token)
    check_call(event, method=method, url=url, now=now)
    check_payload(event, body)
    return event.pubkey


def honest(**changes: Any) -> dict[str, Any]:
    return {**signed(call_tags("POST", URL, BODY), NOW), **changes}


def with_tags(*tags: list[str]) -> str:
    return encoded(signed(list(tags), NOW))


U, METHOD, PAYLOAD = call_tags("POST", URL, BODY)


@pytest.mark.parametrize("case", VECTORS["cases"], ids=lambda case: case["name"])
def test_tokens_of_nostr_tools_pass(case: dict[str, str]) -> None:
    token = case["header"].removeprefix("Nostr ")
    body = case["body"].encode()
    now = VECTORS["created_at"]
    assert judge(token, method=case["method"], url=case["url"], body=body, now=now) == VECTORS["pubkey"]


def test_payload_hash_is_sha256() -> None:
    assert payload_hash(b"abc") == "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad"


@pytest.mark.parametrize("seconds", [-60, -59, 0, 59, 60])
def test_within_a_minute_of_the_clock(seconds: int) -> None:
    assert judge(encoded(honest()), now=NOW + seconds) == pubkey_of(ALICE)
    assert judge(encoded(honest()), now=NOW + seconds + 0.999) == pubkey_of(ALICE)


@pytest.mark.parametrize(("seconds", "said"), [(61, "61 s old"), (-61, "61 s ahead"), (10**9, "s old")])
def test_beyond_a_minute_of_the_clock(seconds: int, said: str) -> None:
    with pytest.raises(InvalidToken, match=said):
        judge(encoded(honest()), now=NOW + seconds)


def flipped(text: str, place: int) -> str:
    return text[:place] + ("1" if text[place] == "0" else "0") + text[place + 1 :]


FORGED = {
    "flipped signature": honest(sig=flipped(honest()["sig"], 7)),
    "A's pubkey, B's signature": {**signed(call_tags("POST", URL, BODY), NOW, secret=BOB)}
    | {"pubkey": pubkey_of(ALICE)},
    "A's event, B's signature": honest(sig=signed(call_tags("POST", URL, BODY), NOW, secret=BOB)["sig"]),
    "created_at changed under the old id": honest(created_at=NOW + 1),
    "a tag changed under the old id": honest(tags=[U, ["method", "DELETE"], PAYLOAD]),
    "another id": honest(id="0" * 64),
}


@pytest.mark.parametrize("event", FORGED.values(), ids=FORGED.keys())
def test_forgeries(event: dict[str, Any]) -> None:
    with pytest.raises(InvalidToken, match=r"the id is not the hash|the signature is not"):
        read_token(encoded(event))


def test_signature_is_checked_before_all_else() -> None:
    stale = signed([["u", "https://elsewhere.example"]], 0, kind=1)
    with pytest.raises(InvalidToken, match="signature"):
        judge(encoded({**stale, "sig": flipped(stale["sig"], 0)}))


GOOD = encoded(honest())
UNREADABLE = {
    "": "no Nostr event",
    "!!!": "not standard base64",
    "é": "not standard base64",
    GOOD[:-3]: "not standard base64|no Nostr event",
    GOOD.rstrip("=") + "=" * 3: "not standard base64",
    GOOD[:40] + " " + GOOD[40:]: "not standard base64",
    base64.urlsafe_b64encode(json.dumps(honest(content="???>>>")).encode()).decode() + "-": "base64url",
    "bm90IGpzb24=": "no Nostr event",
    "W10=": "no Nostr event",  # []
    "bnVsbA==": "no Nostr event",  # null
    "/w==": "no Nostr event",  # no UTF-8
    encoded(honest(sig="")): "no Nostr event: sig",
    encoded(honest(sig=honest()["sig"].upper())): "no Nostr event: sig",
    encoded(honest(tags=[[]])): "no Nostr event: a tag is empty",
    encoded(honest(created_at=None)): "no Nostr event: created_at",
    base64.b64encode(b'{"id":"' + b'","id":"' * 2 + b'"}').decode(): "no Nostr event: the key 'id'",
    base64.b64encode(b"[" * 3072).decode(): "no Nostr event",
    base64.b64encode(b"[" * 3073).decode(): "at most 4096",
    "bm90IGpzb25=": "not standard base64",  # stray bits behind the last byte
}


@pytest.mark.parametrize(("token", "said"), UNREADABLE.items(), ids=range(len(UNREADABLE)))
def test_unreadable(token: str, said: str) -> None:
    with pytest.raises(InvalidToken, match=said):
        read_token(token)


REFUSED = {
    "another kind": (encoded(signed([U, METHOD, PAYLOAD], NOW, kind=22242)), "kind is 22242: .* 27235"),
    "no u": (with_tags(METHOD, PAYLOAD), "the tag u is missing"),
    "two u": (with_tags(U, U, METHOD, PAYLOAD), "the tag u occurs 2 times"),
    "u without a value": (with_tags(["u"], METHOD, PAYLOAD), "the tag u is not the address"),
    "u in upper case": (with_tags(["u", URL.upper()], METHOD, PAYLOAD), "the tag u is not the address"),
    "u with a slash more": (with_tags(["u", URL + "/"], METHOD, PAYLOAD), f"sign exactly {URL}$"),
    "u with a query": (with_tags(["u", URL + "?a=1"], METHOD, PAYLOAD), "the tag u is not the address"),
    "U is no u": (with_tags(["U", URL], METHOD, PAYLOAD), "the tag u is missing"),
    "no method": (with_tags(U, PAYLOAD), "the tag method is missing"),
    "two methods": (with_tags(U, METHOD, METHOD, PAYLOAD), "the tag method occurs 2 times"),
    "another method": (with_tags(U, ["method", "GET"], PAYLOAD), "the tag method is not POST"),
    "method in lower case": (with_tags(U, ["method", "post"], PAYLOAD), "the tag method is not POST"),
    "no payload": (with_tags(U, METHOD), "the tag payload is missing"),
    "two payloads": (with_tags(U, METHOD, PAYLOAD, PAYLOAD), "the tag payload occurs 2 times"),
    "upper-case payload": (with_tags(U, METHOD, ["payload", sha256(BODY).upper()]), "64 lower-case hex"),
    "payload of other bytes": (
        with_tags(U, METHOD, ["payload", sha256(BODY + b" ")]),
        "the SHA-256 of the body",
    ),
    "empty payload": (with_tags(U, METHOD, ["payload", ""]), "the SHA-256 of the body"),
}


@pytest.mark.parametrize(("token", "said"), REFUSED.values(), ids=REFUSED.keys())
def test_refused(token: str, said: str) -> None:
    with pytest.raises(InvalidToken, match=said):
        judge(token)


def test_a_call_without_a_body_needs_no_payload_but_never_a_wrong_one() -> None:
    assert judge(with_tags(U, METHOD), body=b"")
    assert judge(with_tags(U, METHOD, ["payload", sha256(b"")]), body=b"")
    with pytest.raises(InvalidToken, match="payload"):
        judge(with_tags(U, METHOD, PAYLOAD), body=b"")


def test_other_tags_and_content_are_left_alone() -> None:
    event = signed([["nonce", "x"], U, METHOD, PAYLOAD, ["a", "b", "c"]], NOW, content="hello")
    assert judge(encoded(event)) == pubkey_of(ALICE)


@given(st.binary(), st.text(min_size=1))
def test_what_sign_call_signs_passes_for_that_call_alone(body: bytes, path: str) -> None:
    secret = SecretKey(BOB)
    url = f"https://scores.example/{path.encode('utf-8', 'replace').hex()}"
    token = sign_call(secret, method="POST", url=url, body=body, created_at=NOW)
    assert judge(token, url=url, body=body) == pubkey_of(BOB)
    for change in ({"body": body + b"\n"}, {"url": url + "0"}, {"method": "PUT"}, {"now": NOW + 61}):
        with pytest.raises(InvalidToken):
            judge(token, **{"url": url, "body": body, **change})


def test_equal_calls_in_one_second_are_two_tokens() -> None:
    call = {"method": "POST", "url": URL, "body": BODY, "created_at": NOW}
    one, other = (read_token(sign_call(SecretKey(BOB), **call)) for _ in range(2))  # type: ignore[arg-type]
    assert one.id != other.id
    assert verify_event(one)
    assert verify_event(other)


@given(st.binary(max_size=200))
def test_nothing_but_invalid_token_is_raised(noise: bytes) -> None:
    for token in (noise.decode("latin-1"), base64.b64encode(noise).decode()):
        with pytest.raises(InvalidToken):
            read_token(token)
