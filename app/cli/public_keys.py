"""Whose scores a command looks at: keys from options or from the environment."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING

import click

from app.cli.unusable import Unusable
from app.nostr.keys import InvalidKey, parse_pubkey
from app.scores.score_event import SEED_PUBKEY

if TYPE_CHECKING:
    from collections.abc import Collection

PUBLIC_KEYS = "BRISCOLA_PUBLIC_KEYS"


def public_keys(options: Collection[str]) -> frozenset[str]:
    """The keys (hex) that the options give, else the environment; warns of one that everybody can sign for.

    Raises:
        Unusable: there is none, or one that is no key.
    """
    listed = os.environ.get(PUBLIC_KEYS, "").split(",")
    texts = options or [text for text in map(str.strip, listed) if text]
    if not texts:
        raise Unusable(
            f"no public key to verify against: give --pubkey KEY (hex or npub), or set {PUBLIC_KEYS}"
        )
    try:
        keys = frozenset(map(parse_pubkey, texts))
    except InvalidKey as error:
        raise Unusable(f"{'--pubkey' if options else PUBLIC_KEYS}: {error}") from None
    if SEED_PUBKEY in keys:
        click.echo(
            f"Warning: anyone can sign for {SEED_PUBKEY[:8]}..., whose secret key is 1; "
            "a good signature by it proves nothing.",
            err=True,
        )
    return keys
