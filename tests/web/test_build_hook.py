"""What hatchling calls: an installation goes on whatever becomes of the scripts."""

from __future__ import annotations

import importlib
import sys
import tomllib
from types import ModuleType, SimpleNamespace
from typing import TYPE_CHECKING, Any

import pytest

from tests.process import ROOT

if TYPE_CHECKING:
    from pathlib import Path

INTERFACE = "hatchling.builders.hooks.plugin.interface"


class BuildHookInterface:
    """As much of hatchling's as the hook uses; the real one is there only while a distribution is built."""

    def __class_getitem__(cls, _: Any) -> type:
        return cls


@pytest.fixture
def hook(monkeypatch: pytest.MonkeyPatch) -> Any:
    module = ModuleType(INTERFACE)
    module.BuildHookInterface = BuildHookInterface  # type: ignore[attr-defined] - a stand-in's
    monkeypatch.setitem(sys.modules, INTERFACE, module)
    monkeypatch.delitem(sys.modules, "app.web.build_hook", raising=False)
    return importlib.import_module("app.web.build_hook").BuildPages()


def test_without_npm_it_warns_on_one_line(hook: Any, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    warned: list[str] = []
    hook.root, hook.app = str(ROOT), SimpleNamespace(display_warning=warned.append)
    monkeypatch.setenv("PATH", str(tmp_path))
    hook.initialize("editable", {})
    assert warned == [
        "Installed without the pages' scripts, so the server verifies, not the browser: npm is not installed."
    ]


def test_hatchling_finds_it_and_takes_what_it_builds() -> None:
    wheel = tomllib.loads((ROOT / "pyproject.toml").read_text())["tool"]["hatch"]["build"]["targets"]["wheel"]
    assert (ROOT / wheel["hooks"]["custom"]["path"]).is_file()
    assert wheel["artifacts"] == ["app/web/pages/bundle/*.js"]
    assert "/app/web/pages/bundle/" in (ROOT / ".gitignore").read_text().splitlines()
