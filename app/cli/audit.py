"""`audit`: what relays hold against what they should hold; `--repair` sends what is missing."""

from __future__ import annotations

import sys
from contextlib import closing
from typing import TYPE_CHECKING

import click

from app.audit import Held, Newest, compare, newest_of
from app.auditor import Reading, judge, read_relays
from app.cli.audit_report import Audited, progress_bar, show_findings, show_summary
from app.cli.common import load_settings, run_loop
from app.cli.public_keys import public_keys
from app.cli.repair import repair
from app.cli.store import reading
from app.cli.unusable import Unusable
from app.config import Settings
from app.log import configure_logging
from app.nostr.relay_url import InvalidRelayUrl, normalise_relay_url, relays_shown_as, shown_text
from app.store.database import Database
from app.store.errors import StoreError
from app.store.holdings import known_ids, newest_events, payloads, standings

if TYPE_CHECKING:
    from collections.abc import Mapping, Sequence


@click.command("audit")
@click.argument("relays", nargs=-1, metavar="[RELAY]...")
@click.option("--relay", "more", multiple=True, metavar="URL", help="A relay; the same as an argument.")
@click.option(
    "--pubkey",
    "pubkeys",
    multiple=True,
    metavar="KEY",
    help="Audit the relays by this public key (hex or npub) alone, without settings and store; repeatable.",
)
@click.option("--repair", "repairing", is_flag=True, help="Send the relays what is missing or stale.")
@click.option(
    "--wait",
    default=300,
    show_default=True,
    type=click.IntRange(1, 86_400),
    help="With --repair: seconds without an arrival after which to wait no longer.",
)
@click.option("--json", "as_json", is_flag=True, help="Print a JSON object for each finding, and a summary.")
def command(
    relays: tuple[str, ...],
    more: tuple[str, ...],
    pubkeys: tuple[str, ...],
    repairing: bool,
    wait: int,
    as_json: bool,
) -> None:
    """Verify what relays hold, and compare it with what was signed here.

    Without RELAY the relays of the settings are audited. A relay that is named and new gets everything with
    --repair: a running service delivers it, or this command if none does.

    Exits 0 if all is well, 1 if something is missing, stale, forged or unknown, 2 if a relay or the store
    cannot be read.
    """
    named = _relays((*relays, *more))
    if pubkeys:
        if repairing:
            raise Unusable("--repair needs the store of the settings: leave out --pubkey")
        if not named:
            raise Unusable("name the relays to audit: audit RELAY --pubkey KEY")
        audited = _audit_alone(named, public_keys(pubkeys))
        show_findings(audited, as_json=as_json)
    else:
        settings = load_settings(Settings)
        # People see how each relay stands; what is tried again is for those who look for faults.
        level = "error" if settings.log_level == "info" else settings.log_level
        configure_logging(level, settings.log_format)
        try:
            wanted = [one for url in named for one in relays_shown_as(url, settings.relays) or [url]]
            audited = _audit_with_store(settings, wanted or settings.relays)
            show_findings(audited, as_json=as_json)
            if repairing:
                _repair(settings, audited, wait)
        except StoreError as error:
            raise Unusable(str(error)) from None
    show_summary(audited, as_json=as_json)
    if any(one.bad for one in audited):
        sys.exit(1)
    sys.exit(2 if any(one.reading.error for one in audited) else 0)


def _relays(texts: Sequence[str]) -> tuple[str, ...]:
    urls = []
    for text in texts:
        try:
            urls.append(normalise_relay_url(text))
        except InvalidRelayUrl as error:
            raise Unusable(f"the relay {shown_text(text)!r} {error}") from None
    return tuple(dict.fromkeys(urls))


def _audit_alone(relays: Sequence[str], keys: frozenset[str]) -> list[Audited]:
    """Hold each relay to the newest that any of them holds."""
    readings = run_loop(read_relays(relays, keys, None))
    held = [judge(reading, keys) for reading in readings]
    newest = newest_of(one for of_relay in held for one in of_relay)
    return [
        Audited(reading, of_relay, [] if reading.error else list(compare(of_relay, newest, None)))
        for reading, of_relay in zip(readings, held, strict=True)
    ]


def _audit_with_store(settings: Settings, relays: Sequence[str]) -> list[Audited]:
    keys = settings.verifying_keys
    with closing(Database(settings.database_url)) as database:
        with reading(database) as connection:
            stored = newest_events(connection)
        newest = {one.d: Newest(one.event_id, one.created_at, one.seq) for one in stored}
        readings = run_loop(read_relays(relays, keys, newest))
        return [_against_store(database, one, judge(one, keys), newest) for one in readings]


def _against_store(
    database: Database, read: Reading, held: list[Held], newest: Mapping[str, Newest]
) -> Audited:
    if read.error:
        return Audited(read, held, [])
    # Only now, so that a score that was signed while the relay was read is known.
    with reading(database) as connection:
        known = known_ids(connection, [one.event_id for one in held])
        findings = list(compare(held, newest, known))
        wanted = [finding.newest.seq for finding in findings if finding.newest]
        return Audited(
            read,
            held,
            findings,
            payloads(connection, wanted),
            standings(connection, read.relay, wanted),
        )


def _repair(settings: Settings, audited: Sequence[Audited], wait: int) -> None:
    wanted = {one.reading.relay: sorted(one.payloads) for one in audited if one.payloads}
    if wanted:
        with progress_bar(wanted) as arrived:
            repairs = run_loop(repair(settings, wanted, wait=wait, arrived=arrived))
        for one in audited:
            one.repair = repairs.get(one.reading.relay)
