"""`keygen`: a fresh app key."""

from __future__ import annotations

import json

import click

from app.nostr import nip19
from app.nostr.keys import SecretKey


@click.command("keygen")
@click.option("--json", "as_json", is_flag=True, help="Print one JSON object.")
def command(as_json: bool) -> None:
    """Make a secret key and print it with its public key.

    The secret goes into BRISCOLA_SECRET_KEY, or into a file that BRISCOLA_SECRET_KEY_FILE names.
    """
    secret = SecretKey.generate()
    shown = {
        "nsec": secret.to_nsec(),
        "secret_hex": secret.to_hex(),
        "npub": nip19.encode(nip19.NPUB, bytes.fromhex(secret.pubkey)),
        "public_hex": secret.pubkey,
    }
    if as_json:
        click.echo(json.dumps(shown))
        return
    labels = {"nsec": "secret", "secret_hex": "  in hex", "npub": "public", "public_hex": "  in hex"}
    for name, label in labels.items():
        click.echo(f"{label:<9} {shown[name]}")
