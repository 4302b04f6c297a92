"""The console script itself: how any command ends when its output cannot be written."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

from tests.process import ROOT, environment

FULL = Path("/dev/full")


@pytest.mark.skipif(not FULL.exists(), reason="this system has no device that is always full")
@pytest.mark.parametrize("arguments", [["keygen"], ["key", "list", "--json"]])
def test_output_onto_a_full_disk_ends_in_one_line(tmp_path: Path, arguments: list[str]) -> None:
    with FULL.open("w") as full:
        ended = subprocess.run(
            [sys.executable, "-m", "app", *arguments],
            env=environment(tmp_path),
            cwd=ROOT,
            stdout=full,
            stderr=subprocess.PIPE,
            text=True,
            check=False,
        )
    assert ended.stderr == "Error: the output cannot be written: no space is left on the device\n"
    assert ended.returncode == 2
