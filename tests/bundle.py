"""The pages' scripts, bundled where npm is; a test that needs them is skipped elsewhere."""

from __future__ import annotations

import shutil

import pytest

from app.web.build import BUNDLE, SOURCES, build


def _is_stale() -> bool:
    made = [file.stat().st_mtime for file in BUNDLE.glob("*.js")]
    return not made or max(file.stat().st_mtime for file in SOURCES.iterdir()) > min(made)


@pytest.fixture(scope="session")
def bundle() -> None:
    """Build the scripts, unless what is there is as new as its sources."""
    if _is_stale():
        if shutil.which("npm") is None:
            pytest.skip("the pages' scripts are not built, and npm is not installed")
        build()
