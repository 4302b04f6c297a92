"""Signature records with a vector of BIP-340 (number 1 of its list)."""

from __future__ import annotations

from app.nostr.signature import signature_record

PUBKEY = "dff1d77f2a671c5f36183726db2341be58feae1da2deced843240f7b502ba659"
DIGEST = bytes.fromhex("243f6a8885a308d313198a2e03707344a4093822299f31d0082efa98ec4e6c89")
SIGNATURE = bytes.fromhex(
    "6896bd60eeae296db48a229ff71dfe071bde413e6d43f917dc8dcf8c78de3341"
    "8906d11ac976abccb20b091292bff4ea897efcb639ea871cfa95f6de339e4b0a"
)
GOOD = signature_record(PUBKEY, DIGEST, SIGNATURE)
FORGED = signature_record(PUBKEY, DIGEST[::-1], SIGNATURE)
