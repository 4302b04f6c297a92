"""The file of the secret: what is read, and what is said of a file that is none."""

from __future__ import annotations

from typing import TYPE_CHECKING

import pytest

from app.secret_file import read
from tests.service import SECRET

if TYPE_CHECKING:
    from pathlib import Path


def test_without_a_file_nothing_is_read() -> None:
    given = {"BRISCOLA_SECRET_KEY": SECRET}
    assert read(given) == ([], [])
    assert given == {"BRISCOLA_SECRET_KEY": SECRET}


def test_the_secret_stands_where_its_own_setting_would(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text(f"  {SECRET}\n")
    file.chmod(0o600)
    given = {"BRISCOLA_SECRET_KEY_FILE": str(file)}
    assert read(given) == ([], [])
    assert given["BRISCOLA_SECRET_KEY"] == SECRET


@pytest.mark.parametrize("mode", [0o640, 0o604])
def test_a_file_that_others_can_read_is_warned_of(tmp_path: Path, mode: int) -> None:
    file = tmp_path / "key"
    file.write_text(SECRET)
    file.chmod(mode)
    warning = "BRISCOLA_SECRET_KEY_FILE: others can read the file: chmod 600 it"
    assert read({"BRISCOLA_SECRET_KEY_FILE": str(file)}) == ([], [warning])


@pytest.mark.parametrize(
    ("content", "reason"),
    [
        (b"", "is empty"),
        (b" \n", "is empty"),
        (b"\xff\xfe", "holds no key"),
        ("é".encode(), "holds no key"),
        (None, "cannot be read: No such file"),
    ],
)
def test_a_file_without_a_key_says_why(tmp_path: Path, content: bytes | None, reason: str) -> None:
    file = tmp_path / "key"
    if content is not None:
        file.write_bytes(content)
    given = {"BRISCOLA_SECRET_KEY_FILE": str(file)}
    (fault,), warnings = read(given)
    assert fault.startswith("BRISCOLA_SECRET_KEY_FILE: the file ")
    assert reason in fault
    assert warnings == []
    assert "BRISCOLA_SECRET_KEY" not in given


def test_a_folder_is_no_file(tmp_path: Path) -> None:
    (fault,), _ = read({"BRISCOLA_SECRET_KEY_FILE": str(tmp_path)})
    assert "cannot be read: Is a directory" in fault


def test_both_settings_are_a_fault_without_either_being_shown(tmp_path: Path) -> None:
    file = tmp_path / "key"
    file.write_text(SECRET)
    given = {"BRISCOLA_SECRET_KEY": "1" * 64, "BRISCOLA_SECRET_KEY_FILE": str(file)}
    fault = "BRISCOLA_SECRET_KEY_FILE: set together with BRISCOLA_SECRET_KEY: keep one of the two"
    assert read(given) == ([fault], [])
