"""The rules import nothing above them, and nothing that does IO, tells the time or draws lots unseeded."""

import ast
from pathlib import Path

import pytest

FOLDER = Path(__file__).parents[2] / "app" / "briscola"
ALLOWED = {
    *("__future__", "abc", "collections.abc", "dataclasses", "enum", "functools", "hashlib", "itertools"),
    *("math", "struct", "typing"),
}
# A seeded generator is pure; the module's own functions are not.
ALLOWED_NAMES = {"random": {"Random"}}


@pytest.mark.parametrize("path", sorted(FOLDER.glob("*.py")), ids=lambda path: path.name)
def test_imports(path):
    for node in ast.walk(ast.parse(path.read_text(encoding="utf-8"))):
        if isinstance(node, ast.Import):
            assert {alias.name for alias in node.names} <= ALLOWED
        elif isinstance(node, ast.ImportFrom):
            names = {alias.name for alias in node.names}
            allowed = node.module in ALLOWED or names <= ALLOWED_NAMES.get(node.module, set())
            assert allowed or node.module.startswith("app.briscola"), (node.module, names)
