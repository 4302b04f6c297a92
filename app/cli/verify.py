"""`verify`: the five checks on a file of events, offline and without settings."""

from __future__ import annotations

import json
import os
import stat
import sys
from collections import Counter
from contextlib import closing, nullcontext
from typing import BinaryIO

import click
from rich.console import Console
from rich.progress import Progress
from rich.text import Text

from app.cli.input_file import opened
from app.cli.public_keys import pubkey_option, public_keys
from app.cli.unusable import Unusable
from app.event_file import UnusableFile, read_events
from app.scores.consistency import shown
from app.verifier import Check, Verdict
from app.verify_pool import verify_all

_LARGE = 2 * 1024 * 1024  # bytes of a file that repays worker processes and a progress bar
_REDRAWN = 1000  # events between two drawings of the progress bar


@click.command("verify")
@click.argument("file", default="-")
@pubkey_option
@click.option("--json", "as_json", is_flag=True, help="Print one JSON line for each event.")
def command(file: str, pubkeys: tuple[str, ...], as_json: bool) -> None:
    """Verify score events: one event, a JSON array of them, or one on each line.

    FILE is a path, or - for standard input. Exits 0 if every event passes the five checks, 1 if one does
    not, 2 if the file or the key cannot be used.
    """
    keys = public_keys(pubkeys)
    try:
        with opened(file) as stream:
            tally = _verify(stream, keys, as_json=as_json)
    except UnusableFile as error:
        raise Unusable(f"cannot verify {shown(file)}: {error}") from None
    except BrokenPipeError:
        raise  # whoever reads has seen enough; click ends quietly
    except OSError as error:
        raise Unusable(f"cannot write the verdicts: {error.strerror}") from None
    sys.exit(0 if tally.keys() <= {"ok", "inconsistent"} else 1)


def _verify(stream: BinaryIO, keys: frozenset[str], *, as_json: bool) -> Counter[str]:
    """Verify and print; how many events failed each check, are `ok`, are `inconsistent` besides.

    Raises:
        UnusableFile: nothing in the stream is a JSON object.
    """
    size = _size(stream)
    # On a terminal the bar would run into JSON lines; rows for people go through its console, above it.
    on_terminal = sys.stdout.isatty()
    progress = None if size < _LARGE or (as_json and on_terminal) else _progress()
    console = progress.console if progress and on_terminal else Console(highlight=False)
    if progress:
        stream = progress.wrap_file(stream, total=size, description="Verifying")
    tally: Counter[str] = Counter()
    workers = None if size >= _LARGE else 1
    with progress or nullcontext(), closing(verify_all(read_events(stream), keys, workers)) as verdicts:
        for index, verdict in enumerate(verdicts):
            tally[verdict.failed or "ok"] += 1
            tally["inconsistent"] += verdict.ok and not verdict.consistent
            if as_json:
                click.echo(json.dumps({"index": index, **verdict.to_dict()}, separators=(",", ":")))
            elif verdict.reasons:
                console.print(_row(index, verdict), soft_wrap=True)
            if progress and index % _REDRAWN == 0:
                progress.refresh()
    if tally.keys() <= {Check.UNPARSABLE, "inconsistent"}:
        raise UnusableFile("nothing in it is a JSON object")
    if not as_json:
        console.print(_summary(tally), soft_wrap=True)
    return +tally


def _progress() -> Progress | None:
    """A progress bar if standard error is a terminal."""
    if not sys.stderr.isatty():
        return None
    # It draws itself only when told: with a thread of its own there the workers could not be processes.
    console = Console(stderr=True, highlight=False)
    return Progress(console=console, transient=True, redirect_stdout=False, auto_refresh=False)


def _size(stream: BinaryIO) -> int:
    """Bytes in a regular file; 0 for a pipe, whose events are answered as they come."""
    try:
        status = os.fstat(stream.fileno())
    except OSError:
        return 0
    return status.st_size if stat.S_ISREG(status.st_mode) else 0


def _row(index: int, verdict: Verdict) -> Text:
    """A line about an event that is not as it should be: plain ASCII, whatever the event holds."""
    label = Text(verdict.failed or "inconsistent", style="red" if verdict.failed else "yellow")
    label.pad_right(max(0, len("inconsistent") - len(label)))
    return Text.assemble(
        f"{index:>6}  ", label, f"  {(verdict.id or '-')[:12]:<12}  ", "; ".join(verdict.reasons)
    )


def _summary(tally: Counter[str]) -> Text:
    bad = {check: tally[check] for check in Check if tally[check]}
    count = tally["ok"] + sum(bad.values())
    parts: list[str | tuple[str, str]] = [
        f"{count} event{'s' if count != 1 else ''}: ",
        (f"{tally['ok']} verified", "green"),
    ]
    if tally["inconsistent"]:
        parts.append((f", {tally['inconsistent']} of them inconsistent", "yellow"))
    if bad:
        listed = ", ".join(f"{check} {number}" for check, number in bad.items())
        parts.append((f", {sum(bad.values())} bad ({listed})", "red"))
    return Text.assemble(*parts)
