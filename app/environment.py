"""Settings read from the environment: every fault reported at once, no secret ever printed."""

from __future__ import annotations

import os
from typing import TYPE_CHECKING, Any, TypeVar

from pydantic import ValidationError

from app.config import PREFIX, PUBLIC_KEYS, ClientSettings, EnvironmentSettings, Settings
from app.secret_file import SECRET, SECRET_FILE

if TYPE_CHECKING:
    from collections.abc import Mapping

_MISSING = {
    SECRET: f"make a key with `briscola-scores keygen` and set it, or {SECRET_FILE}",
    PUBLIC_KEYS: "give the public keys of the app whose scores are to be read, hex or npub",
}

S = TypeVar("S", bound=EnvironmentSettings)


class InvalidSettings(Exception):
    """Settings that the service cannot run with.

    Attributes:
        faults: one line for each fault, beginning with the name of the setting; warnings at the end.
    """

    def __init__(self, faults: list[str]) -> None:
        super().__init__("\n".join(faults))
        self.faults = faults


def setting_names() -> dict[str, str]:
    """Every setting by its name in the environment, with one sentence on what it means."""
    fields = {**Settings.model_fields, **ClientSettings.model_fields}
    return {PREFIX + name.upper(): field.description or "" for name, field in fields.items()}


def load(kind: type[S], environ: Mapping[str, str] | None = None) -> tuple[S, list[str]]:
    """Read settings of one kind from the environment; an empty value counts as unset.

    Returns:
        The settings, and a warning for each thing that works but should be looked at.

    Raises:
        InvalidSettings: with every fault; no secret and no password stands in it.
    """
    # What raises holds no secret in its frame, for whoever prints tracebacks with their variables.
    settings, warnings, faults = _read(kind, os.environ if environ is None else environ)
    if settings is None:
        # A misspelt name may be why another is not set.
        raise InvalidSettings(faults + warnings)
    return settings, warnings


def _read(kind: type[S], environ: Mapping[str, str]) -> tuple[S | None, list[str], list[str]]:
    """Settings, warnings and faults; None for settings where there is a fault."""
    given = {k: v.strip() for k, v in environ.items() if k.startswith(PREFIX) and v.strip()}
    warnings = [f"{name}: unknown setting, ignored" for name in sorted(given.keys() - setting_names().keys())]
    secret_from = SECRET if SECRET in given else SECRET_FILE
    faults, more = kind.prepare(given)
    warnings += more
    settings: S | None = None
    try:
        settings = kind.model_validate(given)
        warnings += settings.warnings()
    except ValidationError as error:
        faults += [_fault(each, secret_from) for each in error.errors(include_input=False)]
    return (None if faults else settings), warnings, _without_echo(faults)


def _fault(error: Any, secret_from: str) -> str:
    name = str(error["loc"][0]) if error["loc"] else ""
    if error["type"] == "missing":
        return f"{name}: is not set: {_MISSING[name]}"
    what = error["msg"].removeprefix("Value error, ").removeprefix("Input should be ")
    name = secret_from if name == SECRET else name
    return f"{name}: {what}" if name else what


def _without_echo(faults: list[str]) -> list[str]:
    """Drop "is not set" for the secret where its file already has a fault."""
    if any(line.startswith(f"{SECRET_FILE}:") for line in faults):
        return [line for line in faults if not line.startswith(f"{SECRET}: is not set")]
    return faults
