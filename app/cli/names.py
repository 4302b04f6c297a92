"""`names list|transfer|release|ban`: who owns which name."""

from __future__ import annotations

import json
import time
from dataclasses import asdict

import click

from app.cli.store import as_json_option, date, transaction
from app.cli.unusable import Unusable
from app.nostr.keys import InvalidKey, parse_pubkey
from app.principal import key_id_of
from app.scores.score_event import identifier
from app.scores.username import InvalidUsername, check_username
from app.store.api_keys import NoSuchKey, require_key
from app.store.names import CannotChange, Name, ban_name, list_names, release_name, transfer_name


def parse_name(text: str) -> str:
    """The name that all spellings of a username share.

    Raises:
        Unusable: if it is no username.
    """
    try:
        return identifier(check_username(text))
    except InvalidUsername as error:
        raise Unusable(f"the name {text!r} {error}") from None


@click.group("names")
def command() -> None:
    """Names: whoever publishes a name first owns it, in every spelling."""


@command.command("list")
@as_json_option
def list_(as_json: bool) -> None:
    """Show every name that is owned or banned."""
    with transaction() as connection:
        names = list_names(connection)
    if as_json:
        click.echo(json.dumps([asdict(name) for name in names]))
        return
    if not names:
        click.echo("Nobody owns a name yet: whoever publishes one first owns it.", err=True)
        return
    width = max(len(name.name) for name in names) + 2
    click.echo(f"{'name':<{width}}{'owned since':<18}{'state':<8}owner")
    for name in names:
        since = "" if name.owned_since is None else date(name.owned_since)
        state = "banned" if name.banned else "owned"
        click.echo(f"{name.name:<{width}}{since:<18}{state:<8}{name.owner or 'nobody'}")


@command.command("transfer")
@click.argument("name", metavar="NAME", type=parse_name)
@click.argument("owner", metavar="NEW-OWNER")
@as_json_option
def transfer(name: str, owner: str, as_json: bool) -> None:
    """Make NEW-OWNER the owner of NAME; a name that nobody owns yet is kept for them.

    NEW-OWNER is a Nostr public key (npub or 64 hex digits), key:ID for an API key, or jwt:ISS|SUB for an
    account at the identity provider ISS.
    """
    principal = parse_owner(owner)
    try:
        with transaction() as connection:
            if (key_id := key_id_of(principal)) is not None:
                require_key(connection, key_id)
            now = time.time()
            before = transfer_name(connection, name, principal, now=now)
    except (CannotChange, NoSuchKey) as error:
        raise Unusable(str(error.args[0])) from None
    after = Name(name, principal, int(now), banned=False)
    _show(after, f"{name} now belongs to {principal}; before, it belonged to {_owner(before)}.", as_json)


@command.command("release")
@click.argument("name", metavar="NAME", type=parse_name)
@as_json_option
def release(name: str, as_json: bool) -> None:
    """Let whoever publishes NAME next own it; this lifts a ban too."""
    try:
        with transaction() as connection:
            before = release_name(connection, name)
    except CannotChange as error:
        raise Unusable(str(error)) from None
    lifted = ", and the ban is lifted" if before.banned else ""
    after = Name(name, None, None, banned=False)
    _show(after, f"{name} is free{lifted}; before, it belonged to {_owner(before)}.", as_json)


@command.command("ban")
@click.argument("name", metavar="NAME", type=parse_name)
@as_json_option
def ban(name: str, as_json: bool) -> None:
    """Let nobody publish NAME any more, its owner included.

    What was published stays: delete it with DELETE /v1/players/NAME/score and a key with the scope admin.
    """
    with transaction() as connection:
        after = ban_name(connection, name)
    _show(after, f"{name} is banned; it belongs to {_owner(after)}.", as_json)


def parse_owner(text: str) -> str:
    """The id of the principal that an operator names.

    Raises:
        Unusable: if it is none.
    """
    kind, _, rest = text.partition(":")
    match kind:
        case "key" if rest:
            return text
        case "jwt" if all(rest.rpartition("|")[::2]):
            return text
        case "key" | "jwt":
            raise Unusable(f"the owner {text!r} is incomplete: give key:ID or jwt:ISS|SUB")
    try:
        return "nostr:" + parse_pubkey(text.removeprefix("nostr:"))
    except InvalidKey as error:
        raise Unusable(f"the owner is neither key:ID nor jwt:ISS|SUB nor a public key: {error}") from None


def _owner(name: Name | None) -> str:
    return (name and name.owner) or "nobody"


def _show(name: Name, sentence: str, as_json: bool) -> None:
    click.echo(json.dumps(asdict(name)) if as_json else sentence)
