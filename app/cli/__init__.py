"""The console script `briscola-scores`: one file per command, imported only when that command runs."""

from __future__ import annotations

import errno
import importlib
import os
import sys
from typing import Any

import click

from app.cli.unusable import Unusable

# httpx brings a command of its own, whose libraries take 3 MiB that a service does not need. It does without
# if that module is unavailable, which is what None says.
sys.modules["httpx._main"] = None  # type: ignore[assignment]

# Command name -> the module that holds it as `command`; a module is imported only when its command runs.
COMMANDS = {
    "demo": "app.cli.demo",
    "serve": "app.cli.serve",
    "publish": "app.cli.publish",
    "audit": "app.cli.audit",
    "keygen": "app.cli.keygen",
    "key": "app.cli.key",
    "names": "app.cli.names",
    "outbox": "app.cli.outbox",
    "clock": "app.cli.clock",
    "migrate": "app.cli.migrate",
    "verify": "app.cli.verify",
    "leaderboard": "app.cli.leaderboard",
    "play": "app.cli.play",
    "replay": "app.cli.replay",
}


class LazyGroup(click.Group):
    """A click group that imports a command's module on use, so that `verify` never loads the server."""

    def list_commands(self, ctx: click.Context) -> list[str]:
        """Names in the order of `COMMANDS`."""
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:
        """The command object `command` of the module that `COMMANDS` names."""
        if cmd_name not in COMMANDS:
            return None
        command: click.Command = importlib.import_module(COMMANDS[cmd_name]).command
        return command

    def invoke(self, ctx: click.Context) -> Any:
        """Run the command; a full disk ends it with one line, wherever its output goes."""
        try:
            return super().invoke(ctx)
        except OSError as error:
            if error.errno != errno.ENOSPC:
                raise
            raise Unusable("the output cannot be written: no space is left on the device") from None
        finally:
            _drop_what_cannot_be_written()


def _drop_what_cannot_be_written() -> None:
    """Keep Python from trying the same again as it ends, which ends in a traceback and a code of its own."""
    try:
        if sys.stdout is not None:
            sys.stdout.flush()
    except OSError:
        with open(os.devnull, "w") as nowhere:  # noqa: PTH123 - a device, no file
            os.dup2(nowhere.fileno(), sys.stdout.fileno())


@click.group(cls=LazyGroup, context_settings={"help_option_names": ["-h", "--help"]})
@click.version_option(package_name="briscola-scores", prog_name="briscola-scores")
def main() -> None:
    """Sign Briscola scores as Nostr events, get them onto relays, and verify them."""
