"""A real Redis on loopback."""

from __future__ import annotations

import shutil
import subprocess
from contextlib import closing, contextmanager
from socket import create_connection, create_server
from typing import TYPE_CHECKING

import pytest

if TYPE_CHECKING:
    from collections.abc import Iterator


def free_port() -> int:
    """A port that nobody listens on."""
    with closing(create_server(("127.0.0.1", 0))) as listening:
        return int(listening.getsockname()[1])


@contextmanager
def redis_server(port: int, *options: str) -> Iterator[subprocess.Popen[bytes]]:
    """Run a Redis until the block ends; the test is skipped where none is installed."""
    if shutil.which("redis-server") is None:
        pytest.skip("redis-server is not installed")
    command = ["redis-server", "--port", str(port), "--bind", "127.0.0.1", "--save", "", *options]
    process = subprocess.Popen(command, stdout=subprocess.PIPE)
    try:
        assert process.stdout is not None
        for line in process.stdout:
            if b"Ready to accept connections" in line:
                break
        with closing(create_connection(("127.0.0.1", port), timeout=10)):
            yield process
    finally:
        process.kill()
        process.communicate()
