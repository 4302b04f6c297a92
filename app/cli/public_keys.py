"""Whose scores a command looks at: keys from options or from the environment."""

from __future__ import annotations

import os

import click

from app.cli.unusable import Unusable
from app.nostr.keys import InvalidKey, parse_pubkey
from app.scores.score_event import SEED_PUBKEY

PUBLIC_KEYS = "BRISCOLA_PUBLIC_KEYS"

pubkey_option = click.option(
    "--pubkey",
    "pubkeys",
    multiple=True,
    metavar="KEY",
    help=f"Public key of the app, hex or npub; repeat it for several. Default: {PUBLIC_KEYS}.",
)


def public_keys(options: tuple[str, ...]) -> frozenset[str]:
    """The keys of the option, or else of the environment; warns of the one that anyone can sign for.

    Raises:
        Unusable: there is none, or one of them is no key.
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
