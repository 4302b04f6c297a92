"""An audit on the screen: findings and a summary, for people or as JSON."""

from __future__ import annotations

from collections import Counter
from contextlib import contextmanager
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import click
import orjson
from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn
from rich.table import Table
from rich.text import Text

from app.audit import Fault, Finding, Held
from app.delivery.answer import one_line
from app.nostr.relay_url import public_relay_url

if TYPE_CHECKING:
    from collections.abc import Callable, Iterator, Mapping, Sequence

    from app.auditor import Reading
    from app.cli.repair import Repair
    from app.store.holdings import Standing

_SHOWN = 20
_REPAIRABLE = frozenset({Fault.MISSING, Fault.STALE})


@dataclass(slots=True)
class Audited:
    """One relay, and what was found there.

    Attributes:
        payloads: the JSON text of what it should hold, by `seq`, for each finding.
        standings: how the deliveries of these stand, by `seq`.
        repair: what sending again came to; None if nothing was sent.
    """

    reading: Reading
    held: list[Held]
    findings: list[Finding]
    payloads: Mapping[int, str] = field(default_factory=dict)
    standings: Mapping[int, Standing] = field(default_factory=dict)
    repair: Repair | None = None

    @property
    def relay(self) -> str:
        """What may be shown of its URL."""
        return public_relay_url(self.reading.relay)

    @property
    def bad(self) -> bool:
        """Whether something is wrong that a repair has not mended."""
        mended = _REPAIRABLE if self.repair and not self.repair.failed else frozenset[Fault]()
        return any(finding.bad and finding.fault not in mended for finding in self.findings)


def show_findings(audited: Sequence[Audited], *, as_json: bool) -> None:
    """One JSON object a finding, or a table with some of each kind at each relay."""
    if as_json:
        for one in audited:
            for finding in one.findings:
                click.echo(orjson.dumps(_document(one, finding)))
        return
    table = Table("relay", "finding", "player", "event", "what it is", box=None, pad_edge=False)
    for one in audited:
        shown: Counter[Fault] = Counter()
        for finding in sorted(one.findings, key=lambda finding: [*Fault].index(finding.fault)):
            shown[finding.fault] += 1
            if shown[finding.fault] <= _SHOWN:
                table.add_row(*_row(one, finding))
        for fault, count in shown.items():
            if count > _SHOWN:
                more = f"and {count - _SHOWN} more; --json shows all"
                table.add_row(one.relay, fault.value, "…", "…", more)
    if table.row_count:
        _console().print(table)


def show_summary(audited: Sequence[Audited], *, as_json: bool) -> None:
    """One JSON object, or a line for each relay."""
    if as_json:
        good = not any(one.bad or one.reading.error for one in audited)
        click.echo(orjson.dumps({"summary": {"ok": good, "relays": [_summary(one) for one in audited]}}))
        return
    for one in audited:
        _console().print(Text.assemble(f"{one.relay}: ", *_words(one)), soft_wrap=True)


@contextmanager
def progress_bar(wanted: Mapping[str, Sequence[int]]) -> Iterator[Callable[[str, int], None]]:
    """A bar for each relay on stderr, if that is a terminal; gives what is told of arrivals."""
    console = Console(stderr=True, highlight=False)
    columns = (TextColumn("{task.description}"), BarColumn(), MofNCompleteColumn())
    with Progress(*columns, console=console, transient=True, disable=not console.is_terminal) as progress:
        tasks = {
            relay: progress.add_task(public_relay_url(relay), total=len(seqs))
            for relay, seqs in wanted.items()
        }
        yield lambda relay, count: progress.advance(tasks[relay], count)


def _console() -> Console:
    return Console(highlight=False)


def _document(one: Audited, finding: Finding) -> dict[str, Any]:
    newest = finding.newest
    seq = newest.seq if newest else 0
    standing = one.standings.get(seq)
    return {
        "relay": one.relay,
        "finding": finding.fault,
        "name": finding.name,
        "held": finding.held and orjson.loads(finding.held.text),
        "newest": _newest_text(one, seq, newest.event_id if newest else None),
        "delivery": standing and {"state": standing.state, "message": standing.message},
        "reasons": finding.reasons,
    }


def _newest_text(one: Audited, seq: int, event_id: str | None) -> Any:
    """The event that the relay should hold; without a store only its id is at hand."""
    return orjson.Fragment(one.payloads[seq]) if seq in one.payloads else event_id and {"id": event_id}


def _row(one: Audited, finding: Finding) -> list[str | Text]:
    event_id = finding.newest.event_id if finding.newest else finding.held.event_id if finding.held else ""
    style = "red" if finding.bad else "dim"
    return [
        one.relay,
        Text(finding.fault.value, style=style),
        Text(one_line(finding.name)),
        Text(one_line(event_id)[:12]),
        Text(one_line(_explained(one, finding))),
    ]


def _explained(one: Audited, finding: Finding) -> str:
    if finding.reasons:
        return "; ".join(finding.reasons)
    standing = one.standings.get(finding.newest.seq) if finding.newest else None
    match finding.fault:
        case Fault.UNKNOWN:
            return "signed by the app's key, but not here: is the key stolen?"
        case Fault.OLD_VERSION:
            return "kept beside the newest, which takes precedence"
    if standing is None:
        return "never sent there" if one.payloads else "the newest that was seen is not there"
    said = f": {standing.message}" if standing.message else ""
    return f"was {standing.state} there{said}"


def _words(one: Audited) -> Iterator[str | tuple[str, str]]:
    if one.reading.error:
        yield (f"cannot be read: {one.reading.error}", "red")
        return
    yield f"{len(one.held)} event{'s' if len(one.held) != 1 else ''}"
    counts = Counter(finding.fault for finding in one.findings)
    for fault in Fault:
        if counts[fault]:
            style = "dim" if fault is Fault.OLD_VERSION else "red"
            yield ", "
            yield (f"{counts[fault]} {fault.value}", style)
    if not any(finding.bad for finding in one.findings):
        yield (", nothing wrong with these" if one.reading.incomplete else ", all is well", "green")
    if one.repair:
        yield (f"; sent again: {one.repair.arrived} arrived", "green")
        for (state, message), count in one.repair.failed.items():
            said = f" ({message})" if message else ""
            yield (f", {count} {state}{said}", "red")
    if one.reading.incomplete:
        yield (f"; it may hold more than was seen: {one.reading.incomplete}", "yellow")


def _summary(one: Audited) -> dict[str, Any]:
    reading, sent = one.reading, one.repair
    return {
        "relay": one.relay,
        "events": len(one.held),
        "found": Counter(finding.fault.value for finding in one.findings),
        "complete": not (reading.incomplete or reading.error),
        "incomplete": reading.incomplete or None,
        "error": reading.error or None,
        "repair": sent
        and {
            "arrived": sent.arrived,
            "failed": [
                {"state": state, "message": message, "count": count}
                for (state, message), count in sent.failed.items()
            ],
        },
    }
