"""Bundles the pages' scripts: `python -m app.web.build`, and at installation where npm is present.

What npm fetches stays in a temporary folder; `js/package.json` lists the scripts that become bundles.
"""

import shutil
import subprocess
import sys
from pathlib import Path
from tempfile import TemporaryDirectory

SOURCES = Path(__file__).parent / "js"
BUNDLE = Path(__file__).parent / "pages" / "bundle"

_SECONDS = 90
_STEPS = (
    ("ci", "--ignore-scripts", "--no-audit", "--no-fund", "--prefer-offline", "--fetch-retries=1"),
    ("run", "build"),
)


class NotBuilt(Exception):
    """There is no new bundle; the message says why, on one line."""


def build(target: Path = BUNDLE) -> None:
    """Bundle the scripts into `target`, in place of what is there.

    Raises:
        NotBuilt: npm is missing, fails or takes too long; `target` is then as it was.
    """
    npm = shutil.which("npm")
    if npm is None:
        raise NotBuilt("npm is not installed")
    with TemporaryDirectory(prefix="briscola-pages-") as folder:
        work = Path(folder, "js")
        try:
            shutil.copytree(SOURCES, work, ignore=shutil.ignore_patterns("node_modules", "dist"))
            for step in _STEPS:
                _run(npm, *step, cwd=work)
            if target.exists():
                shutil.rmtree(target)
            shutil.copytree(work / "dist", target)
        except OSError as error:
            raise NotBuilt(f"the scripts cannot be copied: {error}") from None


def _run(*command: str, cwd: Path) -> None:
    called = " ".join(("npm", *command[1:]))
    try:
        # S603: the command is ours; npm is the one that the user has.
        ended = subprocess.run(  # noqa: S603
            command, cwd=cwd, stdin=subprocess.DEVNULL, capture_output=True, timeout=_SECONDS, check=False
        )
    except subprocess.TimeoutExpired:
        raise NotBuilt(f"{called} took more than {_SECONDS} seconds") from None
    if ended.returncode != 0:
        said = (ended.stderr or ended.stdout).decode(errors="replace").split("\n")
        reason = next((line.strip() for line in said if line.strip()), "it says nothing")
        raise NotBuilt(f"{called} failed: {reason[:200]}")


if __name__ == "__main__":
    try:
        build()
    except NotBuilt as not_built:
        sys.exit(f"The pages' scripts were not built: {not_built}.")
