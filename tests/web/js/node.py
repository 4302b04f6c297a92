"""The page's modules run in node: a script that reads JSON as `given` and returns what is printed as JSON."""

from __future__ import annotations

import json
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

MODULES = Path(__file__).parents[3] / "app" / "web" / "js"


def run(imports: dict[str, str], body: str, given: object) -> Any:
    """What the function `body` returns, with the names of each module of `imports` in scope."""
    node = shutil.which("node")
    if node is None:
        pytest.skip("node is not installed")
    lines = [
        f"import {{ {names} }} from {json.dumps((MODULES / module).as_uri())};"
        for module, names in imports.items()
    ]
    script = "\n".join(
        [
            'import { readFileSync } from "node:fs";',
            *lines,
            'const given = JSON.parse(readFileSync(0, "utf8"));',
            f"const answer = (() => {{ {body} }})();",
            "console.log(JSON.stringify(answer));",
        ]
    )
    done = subprocess.run(
        [node, "--input-type=module", "-e", script],
        input=json.dumps(given), capture_output=True, text=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    return json.loads(done.stdout)
