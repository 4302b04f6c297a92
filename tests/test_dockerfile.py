"""The container's health check, run as it stands there; and what is copied into it."""

from __future__ import annotations

import asyncio
import json
import re
import sys
from typing import TYPE_CHECKING

from app.web.build import BUNDLE, SOURCES
from tests.process import ROOT, environment, serving
from tests.service import make_key

if TYPE_CHECKING:
    from pathlib import Path

DOCKERFILE = (ROOT / "Dockerfile").read_text()
PYTHON, *ARGUMENTS = json.loads(re.findall(r"HEALTHCHECK .*\\\n +CMD (.*)", DOCKERFILE)[0])


def test_the_image_holds_the_pages_scripts_where_they_are_looked_for() -> None:
    scripts = json.loads((SOURCES / "package.json").read_text())["scripts"]
    assert f"COPY {SOURCES.relative_to(ROOT)} ./" in DOCKERFILE
    assert "npm run build" in DOCKERFILE
    assert scripts["build"].endswith("--outdir=dist")
    assert f"COPY --from=pages /pages/dist {BUNDLE.relative_to(ROOT)}" in DOCKERFILE


async def check(port: str, env: dict[str, str]) -> int:
    arguments = [argument.replace("8000", port) for argument in ARGUMENTS]
    quiet = asyncio.subprocess.DEVNULL
    process = await asyncio.create_subprocess_exec(sys.executable, *arguments, env=env, stderr=quiet)
    return await process.wait()


async def test_the_health_check_asks_the_service_itself_whatever_proxy_is_set(tmp_path: Path) -> None:
    make_key(tmp_path / "scores.db")
    env = {**environment(tmp_path), "http_proxy": "http://127.0.0.1:1", "HTTP_PROXY": "http://127.0.0.1:1"}
    assert PYTHON == "python"
    async with serving(env) as serve:
        port = serve.url.rpartition(":")[2]
        assert await check(port, env) == 0
        serve.process.kill()
        await serve.process.wait()
        assert await check(port, env) == 1
