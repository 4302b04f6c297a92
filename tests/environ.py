"""Settings as texts, and the faults that are found in them."""

from __future__ import annotations

import pytest

from app.config import Settings
from app.environment import InvalidSettings, load
from tests.service import SECRET


def environment(**values: str) -> dict[str, str]:
    return {f"BRISCOLA_{name}": value for name, value in {"SECRET_KEY": SECRET, **values}.items()}


def faults(environ: dict[str, str]) -> list[str]:
    with pytest.raises(InvalidSettings) as caught:
        load(Settings, environ)
    assert str(caught.value) == "\n".join(caught.value.faults)
    return caught.value.faults
