"""What the commands share that check something offline: the file, and the public keys of the app."""

from __future__ import annotations

import os
import sys
from contextlib import nullcontext
from pathlib import Path
from typing import TYPE_CHECKING, BinaryIO

import click

from app.cli.unusable import Unusable
from app.nostr.keys import InvalidKey, parse_pubkey
from app.scores.consistency import shown
from app.scores.score_event import SEED_PUBKEY

if TYPE_CHECKING:
    from contextlib import AbstractContextManager

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


def opened(file: str) -> AbstractContextManager[BinaryIO]:
    """The file, or standard input for `-`.

    Raises:
        Unusable: it cannot be opened.
    """
    if file == "-":
        if sys.stdin is None:
            raise Unusable("cannot read standard input: it is closed")
        return nullcontext(sys.stdin.buffer)
    try:
        return Path(file).open("rb")
    except OSError as error:
        raise Unusable(f"cannot read {shown(file)}: {error.strerror}") from None
    except ValueError as error:
        raise Unusable(f"cannot read {shown(file)}: {error}") from None
