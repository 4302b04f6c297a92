"""The build of the pages' scripts, with an npm of our own where it has to fail."""

from __future__ import annotations

import json
import shutil
from typing import TYPE_CHECKING

import pytest

from app.web import build as build_module
from app.web.build import SOURCES, NotBuilt, build
from app.web.pages.html import TEMPLATES

if TYPE_CHECKING:
    from pathlib import Path


@pytest.fixture
def npm(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The only npm there is: a file to write a script into."""
    folder = tmp_path / "bin"
    folder.mkdir()
    monkeypatch.setenv("PATH", str(folder))
    return folder / "npm"


def says(npm: Path, script: str) -> None:
    npm.write_text(f"#!/bin/sh\nPATH=/usr/bin:/bin\n{script}\n")
    npm.chmod(0o755)


def test_without_npm_there_is_no_bundle_and_a_reason(npm: Path, tmp_path: Path) -> None:
    assert not npm.exists()
    with pytest.raises(NotBuilt, match="npm is not installed"):
        build(tmp_path / "bundle")


def test_a_failure_is_told_on_one_line_and_leaves_what_was_there(npm: Path, tmp_path: Path) -> None:
    says(npm, "echo 'npm error network: no route' >&2; echo more >&2; exit 1")
    target = tmp_path / "bundle"
    target.mkdir()
    (target / "leaderboard.js").write_text("old")
    with pytest.raises(NotBuilt, match=r"^npm ci .* failed: npm error network: no route$"):
        build(target)
    assert (target / "leaderboard.js").read_text() == "old"


def test_what_takes_too_long_is_given_up(npm: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    says(npm, "exec sleep 60")
    monkeypatch.setattr(build_module, "_SECONDS", 0.1)
    with pytest.raises(NotBuilt, match="took more than"):
        build(tmp_path / "bundle")


def test_what_npm_makes_takes_the_place_of_what_was_there(npm: Path, tmp_path: Path) -> None:
    says(npm, 'mkdir -p dist && echo "$*" >> dist/calls.js')
    target = tmp_path / "bundle"
    target.mkdir()
    (target / "old.js").write_text("old")
    build(target)
    assert [file.name for file in target.iterdir()] == ["calls.js"]
    ci, run = (target / "calls.js").read_text().splitlines()
    assert ci.startswith("ci --ignore-scripts ")
    assert run == "run build"
    assert {"dist", "node_modules"}.isdisjoint(file.name for file in SOURCES.iterdir())


@pytest.mark.skipif(shutil.which("npm") is None, reason="npm is not installed")
def test_every_script_of_a_page_is_bundled(tmp_path: Path) -> None:
    build(tmp_path)
    scripts = {file.stem for file in tmp_path.glob("*.js")}
    assert scripts == {"leaderboard", "offline", "play", "protocol"}
    assert scripts - {"offline"} <= {file.stem for file in TEMPLATES.glob("*.html")}
    for file in tmp_path.iterdir():
        assert file.stat().st_size < 96 * 1024
        assert "import" not in file.read_text().partition(";")[0]


def test_the_lock_names_hashes_and_no_host() -> None:
    text = (SOURCES / "package-lock.json").read_text()
    assert "://" not in text.replace('"url": "https://paulmillr.com/funding/"', "")
    packages = json.loads(text)["packages"]
    wanted = json.loads((SOURCES / "package.json").read_text())
    assert packages[""]["dependencies"] == wanted["dependencies"]
    assert packages[""]["devDependencies"] == wanted["devDependencies"]
    assert all(package["integrity"].startswith("sha512-") for name, package in packages.items() if name)
