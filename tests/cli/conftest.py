from pathlib import Path

import pytest


@pytest.fixture
def database(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The file of a database that is not there yet, named in the settings."""
    path = tmp_path / "scores.db"
    monkeypatch.setenv("BRISCOLA_DATABASE_URL", f"sqlite:///{path}")
    return path
