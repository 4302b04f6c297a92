"""`play`: a hand against the computer, in the terminal."""

from __future__ import annotations

import secrets
import sys
from io import TextIOWrapper
from typing import TYPE_CHECKING

import click
from rich.console import Console

from app.briscola.computer import LEVELS, MASTER, computer
from app.briscola.shuffle import SEED_BYTES, shuffled_deck
from app.briscola.two_player import TwoPlayer
from app.briscola.variants import VARIANTS
from app.cli.card_table import CardTable, InputEnded, Stopped
from app.cli.card_words import LANGUAGES, YOU, CardWords
from app.cli.unusable import Unusable

if TYPE_CHECKING:
    from app.briscola.game import Outcome
    from app.cli.card_words import Language


def _seed(ctx: click.Context, param: click.Parameter, text: str | None) -> bytes | None:
    if text is None:
        return None
    try:
        seed = bytes.fromhex(text)
    except ValueError:
        seed = b""
    if len(seed) != SEED_BYTES:
        raise click.BadParameter(
            f"give {2 * SEED_BYTES} hexadecimal digits, as shown after a hand", ctx, param
        )
    return seed


@click.command()
@click.option("--variant", type=click.Choice(list(VARIANTS)), default=TwoPlayer.variant, show_default=True)
@click.option("--level", type=click.Choice(LEVELS), default="normal", show_default=True)
@click.option("--names", type=click.Choice(LANGUAGES), default="italian", show_default=True)
@click.option("--seed", callback=_seed, metavar="HEX", help="Deal the cards of this seed again.")
@click.option("--hints", is_flag=True, help="Before each choice say what the strongest computer would do.")
@click.option("--server", metavar="URL", help="Play a proved hand on the service at this address.")
@click.option("--name", help="With --server: the name that the score is published under.")
def command(
    variant: str,
    level: str,
    names: Language,
    seed: bytes | None,
    hints: bool,
    server: str | None,
    name: str | None,
) -> None:
    """Play a hand of briscola against the computer; you lead.

    Type a card by its number or its name (C10), q to stop. Nothing is recorded or published, but with
    --server: then the service deals and answers, and publishes your score, which anyone can replay.
    BRISCOLA_PLAYER_KEY is your own secret key; a hand that you leave waits there for a day.
    """
    for stream in (sys.stdin, sys.stdout):
        if stream is None:
            raise Unusable("play asks and answers: it needs an input and an output that are open")
        if isinstance(stream, TextIOWrapper):
            stream.reconfigure(errors="replace")  # a terminal without UTF-8, or bytes that are none
    console = Console(highlight=False)
    if server is not None:
        if variant != TwoPlayer.variant or seed is not None:
            raise click.UsageError("--server deals two-player hands: leave out --variant and --seed")
        _play_proved(console, names, hints, server, name, level)
        return
    if name is not None:
        raise click.UsageError("--name goes with --server")
    two = variant == TwoPlayer.variant
    if level == MASTER and not two:
        raise click.UsageError(f"{MASTER} plays {TwoPlayer.variant} only: choose another level")
    seed = seed or secrets.token_bytes(SEED_BYTES)
    state = VARIANTS[variant].start(shuffled_deck(seed))
    advisor = computer(MASTER if two else "sharp", seed, variant) if hints else None
    table = CardTable(console, CardWords(names, state.seats), advisor)
    try:
        console.print(f"Briscola, {variant}, against the computer at level {level}.")
        outcome = table.play(state, computer(level, seed, variant))
        if outcome is not None:
            console.print()
            console.print(closing(outcome), style="bold")
        console.print(f"To play these cards again: --seed {seed.hex()}", style="dim", soft_wrap=True)
    except (Stopped, KeyboardInterrupt):
        console.print("You stop here: the hand is not finished and counts for nothing.")
    except InputEnded:
        click.echo("The input ended before the hand did: it counts for nothing.", err=True)
        raise click.exceptions.Exit(2) from None
    except BrokenPipeError:
        raise  # whoever reads has seen enough; click ends quietly
    except OSError as error:
        raise Unusable(f"cannot go on with the hand: {error.strerror}") from None


def _play_proved(
    console: Console, names: Language, hints: bool, server: str, name: str | None, level: str
) -> None:
    from app.cli.proved_hand import (
        play_proved,  # what it loads takes a second, and a hand here needs none of it
    )

    advisor = computer(MASTER, secrets.token_bytes(SEED_BYTES)) if hints else None
    try:
        play_proved(CardTable(console, CardWords(names, TwoPlayer.seats), advisor), server, name, level)
    except (Stopped, KeyboardInterrupt):
        console.print("You stop here: the hand waits on the service, and the same command goes on with it.")
    except InputEnded:
        click.echo("The input ended before the hand did: it waits on the service.", err=True)
        raise click.exceptions.Exit(2) from None


def closing(outcome: Outcome) -> str:
    """The last line, as seat 0 reads it."""
    side = next(n for n, seats in enumerate(outcome.sides) if YOU in seats)
    ours, theirs = outcome.points[side], outcome.points[1 - side]
    who, s = ("You", "") if len(outcome.sides[side]) == 1 else ("Your side", "s")
    if outcome.winner is None:
        return "Sixty all."
    if outcome.winner == side:
        return f"{who} win{s}, {ours} to {theirs}."
    return f"{who} lose{s}, {ours} to {theirs}. The four aces and four threes hold 84 of the 120 points."
