"""What commands share: how they end on unusable input, and how they load settings."""

from __future__ import annotations

import asyncio
import sys
from typing import TYPE_CHECKING, Any, TypeVar

import click

from app.cli.unusable import Unusable
from app.config import EnvironmentSettings
from app.environment import InvalidSettings, load

if TYPE_CHECKING:
    from collections.abc import Coroutine, Mapping

S = TypeVar("S", bound=EnvironmentSettings)
T = TypeVar("T")


def load_settings(kind: type[S], environ: Mapping[str, str] | None = None) -> S:
    """Settings from the environment; warnings go to stderr.

    Raises:
        Unusable: with every fault.
    """
    try:
        settings, warnings = load(kind, environ)
    except InvalidSettings as error:
        raise Unusable("the settings cannot be used:\n  " + "\n  ".join(error.faults)) from None
    for warning in warnings:
        click.echo(f"Warning: {warning}", file=sys.stderr)
    return settings


def run_loop(main: Coroutine[Any, Any, T]) -> T:
    """Run a coroutine on the fastest event loop that is here."""
    try:
        import uvloop
    except ImportError:
        return asyncio.run(main)
    with asyncio.Runner(loop_factory=uvloop.new_event_loop) as runner:
        return runner.run(main)
