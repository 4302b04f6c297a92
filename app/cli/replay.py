"""`replay`: a transcript checked from its seeds to its score, offline and without settings."""

from __future__ import annotations

import json
import sys
from typing import TYPE_CHECKING

import click
from rich.console import Console
from rich.text import Text

from app.cli.card_words import LANGUAGES
from app.cli.input_file import opened
from app.cli.public_keys import pubkey_option, public_keys
from app.cli.trick_list import trick_list
from app.cli.unusable import Unusable
from app.matches.replay import TranscriptVerdict, verify_transcript
from app.matches.transcript import MAX_TEXT, InvalidTranscript, read_transcript
from app.nostr.event import InvalidEvent, read_fields
from app.scores.consistency import shown
from app.scores.username import InvalidUsername, check_username

if TYPE_CHECKING:
    from app.cli.card_words import Language
    from app.matches.commitment import Terms


@click.command("replay")
@click.argument("file", default="-")
@pubkey_option
@click.option("--show", is_flag=True, help="Print the hand, trick by trick.")
@click.option("--names", type=click.Choice(LANGUAGES), default="italian", show_default=True)
@click.option("--json", "as_json", is_flag=True, help="Print the verdict as one JSON object.")
def command(file: str, pubkeys: tuple[str, ...], show: bool, names: Language, as_json: bool) -> None:
    """Replay a match from its transcript, and say what that proves.

    FILE holds the transcript, a Nostr event of kind 30078; - is standard input. Exits 0 if everything in it
    is true, 1 if something is not, 2 if the file or the key cannot be used.
    """
    keys = public_keys(pubkeys)
    text = _read(file)
    verdict = verify_transcript(text, keys)
    try:
        if as_json:
            click.echo(json.dumps(verdict.to_dict(), separators=(",", ":")))
        else:
            _print(text, verdict, names if show else None)
    except BrokenPipeError:
        raise  # whoever reads has seen enough; click ends quietly
    except OSError as error:
        raise Unusable(f"cannot write the verdict: {error.strerror}") from None
    sys.exit(0 if verdict.ok else 1)


def _read(file: str) -> bytes:
    """The text in the file.

    Raises:
        Unusable: it cannot be read, is too long, or is no JSON object.
    """
    try:
        with opened(file) as stream:
            text = stream.read(MAX_TEXT + 1)
    except OSError as error:
        raise Unusable(f"cannot read {shown(file)}: {error.strerror}") from None
    if not text.strip():
        raise Unusable(f"cannot replay {shown(file)}: it is empty")
    if len(text) > MAX_TEXT:
        raise Unusable(f"cannot replay {shown(file)}: it is over {MAX_TEXT} bytes long, as no transcript is")
    try:
        read_fields(text)
    except InvalidEvent as error:
        raise Unusable(f"cannot replay {shown(file)}: {error}") from None
    return text


def _print(text: bytes, verdict: TranscriptVerdict, shown_in: Language | None) -> None:
    """What people read; the hand too if a language is given for it."""
    console = Console(highlight=False)
    if shown_in is not None:
        try:
            _, transcript = read_transcript(text)
        except InvalidTranscript:
            pass  # the verdict says why
        else:
            console.print(trick_list(transcript, shown_in), Text())
    if verdict.terms is None or verdict.points is None:
        console.print("This transcript is false:", style="red")
        for reason in verdict.reasons:
            console.print(Text(f"  {reason}"), soft_wrap=True)
        return
    how = f", {verdict.forfeit}" if verdict.forfeit else ""
    console.print(
        Text(
            f"{_name(verdict.terms)} against the computer at level {verdict.terms.level}: "
            f"{verdict.points.player} to {verdict.points.computer}{how}.",
            "bold",
        )
    )
    for title, style, sentences in (
        ("Proved:", "green", verdict.proved),
        ("Not proved:", "yellow", verdict.not_proved),
    ):
        console.print(title, style=style)
        for sentence in sentences:
            console.print(Text(f"  {sentence}"), soft_wrap=True)


def _name(terms: Terms) -> str:
    """The player's name; one that this service would never publish may hold anything, so it is escaped."""
    try:
        return check_username(terms.username)
    except InvalidUsername:
        return shown(terms.username)
