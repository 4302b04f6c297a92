"""How a command ends on input or configuration that it cannot use."""

from __future__ import annotations

import click


class Unusable(click.ClickException):
    """Unusable input or configuration: the message goes to stderr, the exit code is 2."""

    exit_code = 2
